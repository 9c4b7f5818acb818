// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table_json.hpp"

#include <utility>

namespace mpiacq::tool {

namespace {

json or_null(std::optional<std::string_view> text) {
  return text ? json(*text) : json(nullptr);
}

json json_of_origin(const job_world& world) {
  if (!world.spawned_by) return nullptr;
  return {{"world", or_null(world.spawned_by->world.empty() ? std::nullopt : std::optional{world.spawned_by->world})},
          {"rank", world.spawned_by->rank},
          {"sequence", world.spawned_by->sequence}};
}

/// Those that hold, by their names in the job's own.
json json_of(const rank_facts& facts) {
  json names = json::array();
  if (facts.acquired_pre_main) names.push_back("acquired_pre_main");
  if (facts.force_to_main) names.push_back("force_to_main");
  if (facts.partial_attach_ok) names.push_back("partial_attach_ok");
  if (facts.ignore_queues) names.push_back("ignore_queues");
  return names;
}

const job_world* world_of(const process_table& table, std::size_t entry) {
  const std::uint32_t number = table.names().world(entry);
  return number < table.worlds().size() ? &table.worlds()[number] : nullptr;
}

}  // namespace

json world_id(const process_table& table, std::size_t entry) {
  const job_world* world = world_of(table, entry);
  return world == nullptr ? json(nullptr) : json(world->id);
}

json json_of_worlds(std::span<const job_world> worlds) {
  json all = json::array();
  for (const job_world& world : worlds) {
    all.push_back({{"number", all.size()}, {"id", world.id}, {"spawned_by", json_of_origin(world)}});
  }
  return all;
}

std::optional<std::size_t> entry_of(const process_table* table, process_id process) {
  const auto local = table == nullptr ? std::vector<bool>{} : hosts_on_this_node(*table);
  for (std::size_t i = 0; table != nullptr && i < table->size(); ++i) {
    const std::uint32_t host = table->host_numbers()[i];
    if (table->pid(i) == process && host < local.size() && local[host]) return i;
  }
  return std::nullopt;
}

json json_of_processes(const seen_table& seen) {
  const process_table& table = seen.table;
  json processes = json::array();
  auto problem = table.problems().begin();  // in order of entries, as we go
  for (std::size_t i = 0; i < table.size(); ++i) {
    json problems = json::array();
    for (; problem != table.problems().end() && problem->entry == i; ++problem) {
      problems.push_back(problem->sentence(table.names()));
    }
    const job_world* world = world_of(table, i);
    processes.push_back({{"rank", table.names().rank(i)},
                         {"world", world_id(table, i)},
                         {"host", or_null(table.host_name(i))},
                         {"executable", or_null(table.executable_name(i))},
                         {"pid", table.pid(i).value()},
                         {"local", bool{seen.is_local[i]}},
                         {"state", name(seen.states[i])},
                         {"spawned_by", world == nullptr ? json(nullptr) : json_of_origin(*world)},
                         {"facts", i < seen.facts.size() ? json_of(seen.facts[i]) : json(nullptr)},
                         {"problems", std::move(problems)}});
  }
  return processes;
}

}  // namespace mpiacq::tool
