// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/graph_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/mpi2dd_json.hpp"

namespace mpiacq::tool {

namespace {

using namespace mpi2dd;

json text_or_null(std::optional<std::string_view> text) {
  return text && !text->empty() ? json(std::string(*text)) : json(nullptr);
}

json message_or_null(const std::optional<error>& what) {
  return what ? json{{"code", name(what->code)}, {"message", what->message}} : json(nullptr);
}

template <class Number>
json index_or_null(const std::optional<Number>& number) {
  return number ? json(index(*number)) : json(nullptr);
}

json world_or_null(const graph& graph, std::optional<world_number> world) {
  return world ? json(std::string(graph.worlds()[index(*world)].id)) : json(nullptr);
}

json json_of_spawn(const graph& graph, std::optional<spawn_number> number) {
  if (!number) return nullptr;
  const spawn& s = graph.spawns()[index(*number)];
  return {{"world", world_or_null(graph, s.parent_world)}, {"rank", s.parent_rank}, {"sequence", s.sequence}};
}

json row_of(const graph& graph, process_number p) {
  const auto rank = graph.rank(p);
  return {{"process", index(p)},
          {"host", text_or_null(graph.host(p))},
          {"pid", graph.pid(p).value()},
          {"executable", text_or_null(graph.executable(p))},
          {"world", world_or_null(graph, graph.world_of(p))},
          {"rank", rank ? json(*rank) : json(nullptr)},
          {"spawned_by", json_of_spawn(graph, graph.spawn_of(p))},
          {"entries", graph.mentions(p)}};
}

json json_of_table(const listing& table) {
  if (table.address.value() == 0 && table.claimed == 0 && !table.failure) return nullptr;
  json entries = json::array();
  for (const process_number p : table.entries) entries.push_back(index(p));
  json problems = json::array();
  for (const entry_problem& problem : table.problems) problems.push_back(problem.sentence());
  return {{"address", fmt::format("{:#x}", table.address.value())},
          {"claimed", table.claimed},
          {"processes", std::move(entries)},
          {"stride", table.stride ? json{{"bytes", table.stride->bytes},
                                         {"source", name(table.stride->source)},
                                         {"why", table.stride->why}}
                                  : json(nullptr)},
          {"lists_itself", table.lists_itself},
          {"failure", message_or_null(table.failure)},
          {"shortfall", message_or_null(table.shortfall)},
          {"problems", std::move(problems)},
          {"problem_count", table.problem_count}};
}

json json_of_visit(const graph& graph, const visit& v) {
  json warnings = json::array();
  for (const error& warning : v.warnings) warnings.push_back(warning.message);
  return {{"process", index(v.process)},
          {"state", name(v.state)},
          {"roles", roles_of(graph, v)},
          {"failure", message_or_null(v.failure)},
          {"depth", v.depth},
          {"rereads", v.rereads},
          {"unsettled", v.unsettled},
          {"info", v.info ? json_of(*v.info) : json(nullptr)},
          {"metadirectory", index_or_null(v.meta)},
          {"proctable", json_of_table(v.processes)},
          {"directory_table", json_of_table(v.directories)},
          {"metadirectory_table", json_of_table(v.metadirectories)},
          {"warnings", std::move(warnings)}};
}

json json_of_worlds(const graph& graph) {
  json all = json::array();
  const auto ranks = ranks_of_worlds(graph);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const world& w = graph.worlds()[i];
    all.push_back({{"id", std::string(w.id)},
                   {"processes", w.processes},
                   {"ranks", ranks[i].text()},
                   {"spawned_by", json_of_spawn(graph, w.spawn)}});
  }
  return all;
}

json json_of_spawns(const graph& graph) {
  json all = json::array();
  const auto made = worlds_of_spawns(graph);
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    json worlds = json::array();
    for (const world_number w : made[i]) worlds.push_back(world_or_null(graph, w));
    json row = json_of_spawn(graph, spawn_number{i});
    row["process"] = index_or_null(graph.spawns()[i].parent);
    row["worlds"] = std::move(worlds);
    all.push_back(std::move(row));
  }
  return all;
}

json json_of_disagreements(const graph& graph) {
  json all = json::array();
  for (const disagreement& d : graph.disagreements()) {
    all.push_back({{"process", index(d.process)},
                   {"table_of", index(d.table_of)},
                   {"table", name(d.kind)},
                   {"entry", d.entry},
                   {"field", name(d.field)},
                   {"stands", d.stands},
                   {"said", d.said}});
  }
  return all;
}

}  // namespace

void write_graph(json_writer& out, const job_graph& job) {
  const graph& graph = job.graph;
  out.begin_object()
      .members({{"schema", "mpiacq.graph/1"},
                {"interface", "mpi2dd"},
                {"start", index(graph.start())},
                {"host", job.host},
                {"core", or_null(job.core)},
                {"worlds", json_of_worlds(graph)},
                {"spawns", json_of_spawns(graph)}})
      .key("visits")
      .begin_array();
  for (const visit& v : graph.visits()) out.value(json_of_visit(graph, v));
  out.end_array().member("disagreements", json_of_disagreements(graph));
  out.member("disagreement_count", graph.disagreement_count()).member("left_unopened", graph.left_unopened());
  out.key("problems").begin_array();
  for (const error& problem : job.problems) out.value(problem.message);
  out.end_array().key("processes").begin_array();
  for (std::uint32_t i = 0; i < graph.process_count(); ++i) out.value(row_of(graph, process_number{i}));
  out.end_array().end_object();
}

}  // namespace mpiacq::tool
