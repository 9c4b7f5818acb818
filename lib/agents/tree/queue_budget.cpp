// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/queue_budget.hpp"

#include <algorithm>
#include <variant>

namespace mpiacq::agents {

bool sent_answers::send(answer& part, const std::function<bool(const answer&)>& send_part) {
  auto* queues = part.what ? std::get_if<group_queues>(&*part.what) : nullptr;
  if (queues == nullptr) return send_part(part);
  ranks_ += queues->ranks.size();
  std::uint64_t held = keep_within(*queues, most_bytes_of(ranks_) - std::min(bytes_, most_bytes_of(ranks_)));
  bool sent = send_part(part);
  while (!sent) {
    const std::uint64_t less = keep_within(*queues, held / 2);
    if (less >= held) break;
    held = less;
    sent = send_part(part);
  }
  bytes_ += held;
  return sent;
}

}  // namespace mpiacq::agents
