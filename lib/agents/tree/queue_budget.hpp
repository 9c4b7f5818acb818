// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Bounds the memory that the message queues of many ranks take in an agent and in the front end.
#pragma once

#include <cstdint>
#include <functional>

#include "mpiacq/queues/queue_memory.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Bounds the parts of one answer, which an agent keeps in case a new parent asks for them.
class sent_answers {
 public:
  /// Sends a part of the answer. Shortens its largest reports of message queues until it fits into one message, and
  /// into this agent's memory beside the earlier parts. False if it cannot be sent.
  [[nodiscard]] bool send(answer& part, const std::function<bool(const answer&)>& send_part);

 private:
  std::size_t ranks_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace mpiacq::agents
