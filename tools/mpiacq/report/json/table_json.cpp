// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/table_json.hpp"

#include <utility>

namespace mpiacq::tool {

namespace {

json or_null(std::optional<std::string_view> text) {
  return text ? json(*text) : json(nullptr);
}

json json_of_origin(const job_world& world) {
  if (!world.spawned_by) return nullptr;
  return {{"world", or_null(world.spawned_by->world.empty() ? std::nullopt : std::optional{world.spawned_by->world})},
          {"rank", world.spawned_by->rank.value()},
          {"sequence", world.spawned_by->sequence}};
}

/// The names of the facts that hold; the same names as for the job's own facts.
void write_facts(json_writer& out, const rank_facts& facts) {
  out.begin_array();
  if (facts.acquired_pre_main) out.value("acquired_pre_main");
  if (facts.force_to_main) out.value("force_to_main");
  if (facts.partial_attach_ok) out.value("partial_attach_ok");
  if (facts.ignore_queues) out.value("ignore_queues");
  out.end_array();
}

const job_world* world_of(const process_table& table, entry_index entry) {
  const std::uint32_t number = table.names().world(entry);
  return number < table.worlds().size() ? &table.worlds()[number] : nullptr;
}

}  // namespace

json world_id(const process_table& table, entry_index entry) {
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

json json_of(const starter_facts& starter) {
  if (starter.pid == process_id{}) return nullptr;
  return {{"pid", starter.pid.value()},
          {"executable", starter.executable},
          {"found_how", tool::or_null(starter.found_how)}};
}

std::optional<entry_index> entry_of(const process_table* table, process_id process) {
  if (table == nullptr) return std::nullopt;
  const entry_locality locality(*table);
  for (const entry_index entry : table->entries()) {
    if (table->pid(entry) == process && locality.is_local(entry)) return entry;
  }
  return std::nullopt;
}

void write_processes(json_writer& out, const seen_table& seen) {
  const process_table& table = seen.table;
  out.begin_array();
  auto problem = table.problems().begin();  // in order of entries, as we go
  for (std::size_t i = 0; i < table.size(); ++i) {
    const entry_index entry{i};
    const job_world* world = world_of(table, entry);
    out.begin_object().member("rank", table.names().rank(entry).value()).key("world");
    world == nullptr ? out.null() : out.value(world->id);
    out.member("host", table.host_name(entry))
        .member("executable", table.executable_name(entry))
        .member("pid", table.pid(entry).value());
    if (table.has_other_pids()) out.member("container_pid", table.published_pid(entry).value());
    out.member("local", seen.locality.is_local(entry)).member("state", name(seen.states[i])).key("spawned_by");
    world == nullptr || !world->spawned_by ? out.null() : out.value(json_of_origin(*world));
    out.key("facts");
    i < seen.facts.size() ? write_facts(out, seen.facts[i]) : (void)out.null();
    out.key("problems").begin_array();
    for (; problem != table.problems().end() && problem->entry == entry; ++problem) {
      out.value(problem->sentence(table.names()));
    }
    out.end_array().end_object();
  }
  out.end_array();
}

}  // namespace mpiacq::tool
