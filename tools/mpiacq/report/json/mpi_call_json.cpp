// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/mpi_call_json.hpp"

#include <utility>

namespace mpiacq::tool {

namespace {

json message_of(const pending_requests& one) {
  if (!one.message) return nullptr;
  return {{"direction", one.message->is_send ? "send" : "receive"},
          {"peer", number_or_null(one.message->peer)},
          {"world_rank", number_or_null(one.message->world_rank)},
          {"tag", number_or_null(one.message->tag)}};
}

}  // namespace

json arguments_of(const rank_activity& doing) {
  json arguments = json::array();
  for (const mpi_argument& one : doing.arguments) {
    if (!one.is_known || one.is_address) continue;
    arguments.push_back(
        {{"role", name(one.role)}, {"value", one.value}, {"name", or_null(one.name)}, {"source", name(one.source)}});
  }
  return arguments;
}

json requests_of(const rank_activity& doing) {
  if (!doing.requests) return nullptr;
  json pending = json::array();
  for (const pending_requests& one : doing.requests->pending) {
    pending.push_back({{"kind", name(one.kind)},
                       {"persistent", one.persistent},
                       {"communicator", number_or_null(one.communicator)},
                       {"communicator_name", or_null(one.communicator_name)},
                       {"count", one.count},
                       {"message", message_of(one)}});
  }
  return {
      {"pending", std::move(pending)}, {"complete", doing.requests->complete}, {"not_known", doing.requests->unknown}};
}

json called_communicator_of(const rank_activity& doing) {
  if (!doing.on) return nullptr;
  const queue_communicator& facts = doing.on->facts;
  const bool is_window = doing.on->by == mpi_role::window;
  return {{"by", name(doing.on->by)},
          {"id", is_window ? json(nullptr) : json(facts.id)},
          {"name", or_null(facts.name)},
          {"local_rank", facts.local_rank},
          {"size", facts.size},
          {"group", facts.group ? json(facts.group->numbers()) : json(nullptr)},
          {"intercommunicator", facts.is_inter ? json(*facts.is_inter) : json(nullptr)},
          {"remote_group", facts.remote_group ? json(facts.remote_group->numbers()) : json(nullptr)}};
}

json json_of_site(const call_site& site) {
  if (!site.is_known()) return nullptr;
  return {{"function", or_null(site.function)},
          {"file", or_null(site.file)},
          {"line", site.line != 0 ? json(site.line) : json(nullptr)}};
}

}  // namespace mpiacq::tool
