// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "library/report_sink.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

/// Hands on what the separate process says of a library, as far as it can be true: numbers that name nothing and lists
/// beyond their bounds end it, texts are made printable.
class record_reader {
 public:
  record_reader(report_sink& into, const queue_limits& limits) : into_(into), limits_(limits) {}

  /// Whole records, one after the other; what is no whole record at the end is dropped. The bytes are the reader's: who
  /// wrote them cannot change them any more. Errors: bad_format, limit.
  [[nodiscard]] result<void> take(std::span<const std::byte> bytes);
  /// How it ended over there, in its own words.
  [[nodiscard]] static result<void> judged(result<void> outcome);
  /// Nothing comes any more.
  void finish() { hand_on_communicator(); }

 private:
  [[nodiscard]] result<void> take_one(std::span<const std::byte> bytes);
  [[nodiscard]] result<void> count(const record& what);

  [[nodiscard]] result<void> put(library_facts&& facts);
  [[nodiscard]] result<void> put(has_queues_record what);
  [[nodiscard]] result<void> put(communicator_record&& c);
  [[nodiscard]] result<void> put(group_record&& part);
  [[nodiscard]] result<void> put(queue_begins_record what);
  [[nodiscard]] result<void> put(queue_operation&& op);
  [[nodiscard]] result<void> put(queue_ends_record what);
  [[nodiscard]] result<void> put(spawn_breakpoint_record&& what);
  [[nodiscard]] result<void> put(new_process&& p);
  [[nodiscard]] result<void> put(missing_type&& m);
  [[nodiscard]] result<void> put(note_record&& what);
  [[nodiscard]] result<void> put(error&& e);
  void hand_on_communicator();

  report_sink& into_;
  const queue_limits& limits_;
  std::optional<queue_communicator> next_;          ///< its group has not come whole
  std::optional<std::vector<std::int64_t>> group_;  ///< of `next_`, as far as it has come; empty: it has none
  std::uint64_t group_left_ = 0;
  std::uint64_t communicators_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t others_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<queue_class> open_;  ///< the queue whose operations come
};

}  // namespace mpiacq::mqd_host
