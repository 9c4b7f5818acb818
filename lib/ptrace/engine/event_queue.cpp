// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/event_queue.hpp"

#include <algorithm>

#include "wire/channel.hpp"
#include "wire/tracer_messages.hpp"

namespace mpiacq::tracing {

void event_queue::push(process_event event) {
  known_.push_back(std::move(event));
  send();
}

void event_queue::taken(std::uint64_t count) {
  // The tool cannot have received more events than were sent.
  for (; taken_ < count && sent_ > 0; ++taken_, --sent_) known_.pop_front();
}

bool event_queue::has_any_of(process_id process) const {
  return std::any_of(known_.begin(), known_.end(), [&](const process_event& e) { return e.process == process; });
}

void event_queue::send() {
  // A send that fails permanently means that the tool has gone. The command socket shows that too.
  while (sent_ < known_.size() && send_packet(socket_.get(), encode(known_[sent_])) == packet_outcome::done) ++sent_;
}

}  // namespace mpiacq::tracing
