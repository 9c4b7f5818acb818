// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How much memory the message queues of many ranks hold in an agent and in the front end.
#pragma once

#include <cstdint>
#include <functional>

#include "mpiacq/queues/queue_memory.hpp"
#include "mpiacq/ranks/node_queues.hpp"
#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Keeps all reports within so many bytes, see `report_budget`. Equal groups share one list afterwards. Returns how
/// many bytes the reports hold together.
std::uint64_t keep_within(node_queues& queues, std::uint64_t bytes);

/// Bounds the answers to one question that an agent has sent, and keeps in case another parent asks for them.
class sent_answers {
 public:
  /// Sends a part of the answer, with the largest reports of message queues shortened as far as there is no room for
  /// them: in this agent beside the parts before, and in one message. False where it cannot be sent.
  [[nodiscard]] bool send(answer& part, const std::function<bool(const answer&)>& send_part);

 private:
  std::size_t ranks_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace mpiacq::agents
