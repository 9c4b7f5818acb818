// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "library/report_sink.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

/// Checks the records of the separate process and passes them to a sink. Invalid enumeration values and lists beyond
/// their limits end the reading; texts are made printable.
class record_reader {
 public:
  record_reader(report_sink& into, const queue_limits& limits) : into_(into), limits_(limits) {}

  /// Takes whole records, one after the other, and drops an incomplete one at the end. `bytes` must be the reader's own
  /// copy, which the separate process cannot change any more. Errors: bad_format, limit.
  [[nodiscard]] result<void> take(std::span<const std::byte> bytes);
  /// Checks how the session ended, as the separate process reports it.
  [[nodiscard]] static result<void> judged(result<void> outcome);
  /// To be called after the last record.
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
  std::optional<queue_communicator> next_;          ///< a communicator whose group is incomplete
  std::optional<std::vector<std::int64_t>> group_;  ///< the received part of its group; empty: it has no group
  std::uint64_t group_left_ = 0;
  std::uint64_t communicators_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t others_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<queue_class> open_;  ///< the queue to which the next operations belong
};

}  // namespace mpiacq::mqd_host
