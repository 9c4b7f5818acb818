// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/message_queues.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq {

namespace {

void place_on_other_side(peer& partner, const std::optional<group_members>& remote) {
  partner.global.reset();
  if (!remote || !partner.local || *partner.local < 0) return;
  const auto rank = static_cast<std::uint64_t>(*partner.local);
  if (rank < remote->size() && (*remote)[rank] >= 0) partner.global = static_cast<std::uint32_t>((*remote)[rank]);
}

}  // namespace

void make_inter(queue_communicator& one, std::optional<group_members> remote_group) {
  one.is_inter = true;
  one.remote_group = std::move(remote_group);
  for (queue_listing& queue : one.queues) {
    for (queue_operation& operation : queue.operations) {
      place_on_other_side(operation.desired, one.remote_group);
      if (operation.actual) place_on_other_side(operation.actual->from_or_to, one.remote_group);
    }
  }
}

bool names_a_rank_beyond(const queue_communicator& one) {
  return std::any_of(one.queues.begin(), one.queues.end(), [&](const queue_listing& queue) {
    return std::any_of(queue.operations.begin(), queue.operations.end(), [&](const queue_operation& operation) {
      return operation.desired.local && *operation.desired.local >= one.size;
    });
  });
}

std::string_view name(queue_class c) {
  switch (c) {
    case queue_class::sends:
      return "sends";
    case queue_class::receives:
      return "receives";
    case queue_class::unexpected:
      return "unexpected";
  }
  return "";
}

std::string_view name(operation_status status) {
  switch (status) {
    case operation_status::pending:
      return "pending";
    case operation_status::matched:
      return "matched";
    case operation_status::complete:
      return "complete";
  }
  return "";
}

std::string_view name(queue_knowledge k) {
  switch (k) {
    case queue_knowledge::complete:
      return "complete";
    case queue_knowledge::cut_short:
      return "cut-short";
    case queue_knowledge::none:
      return "none";
    case queue_knowledge::failed:
      return "failed";
  }
  return "";
}

std::string_view name(queue_origin origin) {
  switch (origin) {
    case queue_origin::library:
      return "library";
    case queue_origin::memory:
      return "memory";
  }
  return "";
}

std::string_view name(length_unit unit) {
  switch (unit) {
    case length_unit::bytes:
      return "bytes";
    case length_unit::elements:
      return "elements";
    case length_unit::unknown:
      return "unknown";
  }
  return "";
}

}  // namespace mpiacq
