// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Messages that have arrived at a rank and that the receive it waits in does not take: as a rule the tag is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::waits {

/// The unexpected messages of one rank, by communicator and sender. They are looked through at the first question.
class arrived_messages {
 public:
  /// `report` must outlive this object.
  explicit arrived_messages(const queue_report& report) : report_(report) {}

  /// "; a message from rank 1 with tag 10 has arrived": what has come on this communicator of the report, from this
  /// rank of the communicator (empty: from any). Empty if nothing has come, and if a message has the wanted tag: the
  /// receive takes it. Messages of the MPI itself (tags below 0) do not count.
  [[nodiscard]] std::string text(std::size_t communicator, std::optional<std::int64_t> from, std::int64_t wanted_tag);

 private:
  struct line {
    const queue_operation* first = nullptr;
    std::size_t count = 0;
  };
  using key = std::pair<std::size_t, std::optional<std::int64_t>>;
  void look_through();

  const queue_report& report_;
  bool is_looked_through_ = false;
  std::map<key, line> lines_;
};

}  // namespace mpiacq::waits
