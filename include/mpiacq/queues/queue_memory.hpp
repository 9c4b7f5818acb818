// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How much memory the reports of queue libraries may hold. A library is foreign code: it may report without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// Bytes that the report of one process may hold. What a library reports beyond is not kept, and the report says so.
inline constexpr std::uint64_t most_report_bytes = std::uint64_t{24} << 20U;
/// Bytes that the reports of so many ranks may hold together: 128 MB, and 8 KB for each rank. The usual report of a
/// rank holds less than 8 KB, and the ranks share its groups: a job with usual reports always fits.
[[nodiscard]] constexpr std::uint64_t most_bytes_of(std::size_t ranks) {
  return (std::uint64_t{128} << 20U) + (std::uint64_t{ranks} << 13U);
}

/// About how many bytes of memory these hold, with the room that a growing list has beyond its elements.
[[nodiscard]] std::uint64_t bytes_held(const std::string& text);
[[nodiscard]] std::uint64_t bytes_held(const error& problem);
[[nodiscard]] std::uint64_t bytes_held(const missing_type& missing);
[[nodiscard]] std::uint64_t bytes_held(const new_process& process);
[[nodiscard]] std::uint64_t bytes_held(const queue_operation& operation);
[[nodiscard]] std::uint64_t bytes_held(const group_members& members);
/// Without its operations. Its groups count as if it shared them with no other communicator.
[[nodiscard]] std::uint64_t bytes_held(const queue_communicator& communicator);
/// Its groups count as if no communicators shared them.
[[nodiscard]] std::uint64_t bytes_held(const queue_report& report);

/// Keeps the reports of many ranks within a bound. Equal groups get one list, which counts once. When the reports hold
/// too much together, this shortens the largest ones: it keeps what comes first in a report (a communicator without its
/// group, if the group is too long) and adds a problem (error_code::limit). The other reports stay whole. Thread: one
/// at a time.
class report_budget {
 public:
  /// `bytes`: what all reports may hold together, see `most_bytes_of`.
  explicit report_budget(std::uint64_t bytes) : bytes_(bytes) {}
  /// Takes a report in. The caller keeps it, does not move it, and does not touch it during calls of `add`. It may be
  /// shortened by each later call.
  void add(queue_report& report);
  /// Bytes that all reports hold together.
  [[nodiscard]] std::uint64_t held() const { return held_; }

 private:
  /// A list that has been seen, and the equal one that all communicators get in its place. Both are kept, so that no
  /// new list has the address of the first.
  struct same_lists {
    group_members seen;
    group_members shared;
  };
  void share(queue_report& report);
  void share(group_members& members);
  void make_room();
  void shorten_larger_than(std::uint64_t bytes);

  std::uint64_t bytes_;
  std::uint64_t held_ = 0;
  std::uint64_t level_ = most_report_bytes;  ///< a report that holds more is shortened when there is no room
  std::vector<queue_report*> reports_;
  std::unordered_map<const void*, same_lists> known_;                ///< by `group_members::list`
  std::unordered_multimap<std::size_t, group_members> by_contents_;  ///< the shared ones, by a hash
};

}  // namespace mpiacq
