// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arrived_messages.hpp"

#include <fmt/format.h>

namespace mpiacq::waits {

namespace {

std::string sender_text(const peer& who) {
  if (who.global) return fmt::format("rank {}", *who.global);
  return who.local ? fmt::format("rank {} of the communicator", *who.local) : "a rank that is not known";
}

}  // namespace

void arrived_messages::look_through() {
  is_looked_through_ = true;
  for (std::size_t place = 0; place < report_.communicators.size(); ++place) {
    for (const queue_operation& message : report_.communicators[place].of(queue_class::unexpected).operations) {
      if (!message.tag || *message.tag < 0) continue;
      for (const std::optional<std::int64_t>& from : {message.desired.local, std::optional<std::int64_t>{}}) {
        line& one = lines_[{place, from}];
        if (one.first == nullptr) one.first = &message;
        ++one.count;
        if (!from) break;  // the sender is not known
      }
    }
  }
}

std::string arrived_messages::text(std::size_t communicator, std::optional<std::int64_t> from,
                                   std::int64_t wanted_tag) {
  if (!is_looked_through_) look_through();
  const auto found = lines_.find({communicator, from});
  if (found == lines_.end() || found->second.first->tag == wanted_tag) return "";
  const queue_operation& first = *found->second.first;
  const std::string sender = sender_text(first.desired);
  if (found->second.count == 1) return fmt::format("; a message from {} with tag {} has arrived", sender, *first.tag);
  if (from)
    return fmt::format("; {} messages from {} have arrived, the first with tag {}", found->second.count, sender,
                       *first.tag);
  return fmt::format("; {} messages have arrived, the first from {} with tag {}", found->second.count, sender,
                     *first.tag);
}

}  // namespace mpiacq::waits
