// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How much memory the reports of queue libraries may take. A library is foreign code and may report without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// The largest report of one process in bytes. What a library reports beyond is dropped, and the report says so.
inline constexpr std::uint64_t most_report_bytes = std::uint64_t{24} << 20U;
/// The largest size in bytes of the reports of so many ranks together: 128 MB, and 8 KB for each rank. A usual report
/// takes less than 8 KB, because ranks share groups, so usual reports always fit.
[[nodiscard]] constexpr std::uint64_t most_bytes_of(std::size_t ranks) {
  return (std::uint64_t{128} << 20U) + (std::uint64_t{ranks} << 13U);
}

/// The memory of a value in bytes, approximately, including unused capacity of lists.
[[nodiscard]] std::uint64_t bytes_held(const std::string& text);
/// As above.
[[nodiscard]] std::uint64_t bytes_held(const error& problem);
/// As above.
[[nodiscard]] std::uint64_t bytes_held(const missing_type& missing);
/// As above.
[[nodiscard]] std::uint64_t bytes_held(const new_process& process);
/// As above.
[[nodiscard]] std::uint64_t bytes_held(const queue_operation& operation);
/// As above.
[[nodiscard]] std::uint64_t bytes_held(const group_members& members);
/// As above, without its operations. Groups count as if no other communicator shared them.
[[nodiscard]] std::uint64_t bytes_held(const queue_communicator& communicator);
/// As above. Groups count as if no communicators shared them.
[[nodiscard]] std::uint64_t bytes_held(const queue_report& report);

/// Keeps the reports of many ranks within a limit. Equal groups get one list, which counts once. If the reports exceed
/// the limit together, the largest ones are shortened: the beginning of a report stays (a communicator loses its group
/// if that is too long), and a problem (error_code::limit) is added. The other reports stay whole. Thread: one at a
/// time.
class report_budget {
 public:
  /// `bytes` is the limit for all reports together; see `most_bytes_of`.
  explicit report_budget(std::uint64_t bytes) : bytes_(bytes) {}
  /// Adds a report. The caller owns it, does not move it, and does not use it during calls of `add`. Later calls may
  /// shorten it.
  void add(queue_report& report);
  /// Adds a communicator that is in no report. If the limit is exceeded, such communicators lose their groups before
  /// reports are shortened.
  void add(queue_communicator& called);
  /// The size of all reports in bytes.
  [[nodiscard]] std::uint64_t held() const { return held_; }

 private:
  /// A list that was seen, and the equal list that replaces it in all communicators. Both are kept, so that no new list
  /// gets the address of the first.
  struct same_lists {
    group_members seen;
    group_members shared;
  };
  void share(queue_report& report);
  void share(queue_communicator& one);
  void share(group_members& members);
  void drop_called();
  void count_anew();
  void make_room();
  void shorten_larger_than(std::uint64_t bytes);

  std::uint64_t bytes_;
  std::uint64_t held_ = 0;
  std::uint64_t level_ = most_report_bytes;  ///< reports above this size are shortened when the limit is exceeded
  std::vector<queue_report*> reports_;
  std::vector<queue_communicator*> called_;                          ///< those that are in no report
  bool called_dropped_ = false;                                      ///< no more of their groups are kept
  std::unordered_map<const void*, same_lists> known_;                ///< indexed by `group_members::list`
  std::unordered_multimap<std::size_t, group_members> by_contents_;  ///< the shared lists, indexed by a hash
};

}  // namespace mpiacq
