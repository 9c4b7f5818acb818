// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/stacks_json.hpp"

#include <fmt/format.h>

#include "report/json/mpi_call_json.hpp"
#include "report/json/table_json.hpp"

namespace mpiacq::tool {

namespace {

void write_ranks(json_writer& out, const stacks_snapshot& snapshot) {
  out.begin_array();
  for (const stacked_rank& rank : snapshot.ranks) {
    json problems = json::array();
    for (const error& problem : rank.problems) problems.push_back(problem.message);
    out.value(json{{"rank", snapshot.names.rank(rank.entry).value()},
                   {"world", world_of(snapshot.names, rank.entry)},
                   {"pid", rank.pid.value()},
                   {"host", or_null(rank.host)},
                   {"outcome", outcome_of(rank)},
                   {"samples", rank.samples},
                   {"call", rank.doing ? or_null(rank.doing->function) : json(nullptr)},
                   {"arguments", rank.doing ? arguments_of(*rank.doing) : json(nullptr)},
                   {"at", rank.doing ? json_of_site(rank.doing->at) : json(nullptr)},
                   {"problems", std::move(problems)}});
  }
  out.end_array();
}

json json_of_node(const call_tree::node& node, const rank_names& names) {
  const bool is_frame = node.place != nullptr;
  const code_place place = is_frame ? *node.place : code_place{};
  const bool named = !is_frame || !place.function.empty();
  return {{"function", or_null(place.function)},
          {"file", or_null(place.file)},
          {"line", place.line == 0 ? json(nullptr) : json(place.line)},
          {"module", or_null(place.module_path)},
          {"offset", named ? json(nullptr) : json(fmt::format("{:#x}", place.offset.value()))},
          {"inlined", node.inlined},
          {"end", node.is_cut() ? json(name(node.end)) : json(nullptr)},
          {"why", or_null(node.why)},
          {"ranks", names.text(node.ranks)},
          {"standing", names.text(node.standing)},
          {"moved", names.text(node.ranks.without(node.steady))},
          {"threads", node.threads},
          {"count", node.stacks}};
}

/// Writes a flat list. A list that is nested as deeply as the calls would exceed the limit of many JSON readers.
void write_tree(json_writer& out, const call_tree& tree, const rank_names& names) {
  std::vector<std::size_t> ids(tree.size(), 0);
  std::size_t count = 0;
  out.begin_array();
  for (const auto number : tree.in_order()) {
    if (number == call_tree::root) continue;
    const call_tree::node& node = tree[number];
    ids[number] = count++;
    json frame = {{"id", ids[number]},
                  {"parent", node.parent == call_tree::root ? json(nullptr) : json(ids[node.parent])}};
    frame.update(json_of_node(node, names));
    out.value(frame);
  }
  out.end_array();
}

}  // namespace

void write_stacks(json_writer& out, const stacks_snapshot& snapshot) {
  json problems = json::array();
  for (const error& problem : snapshot.problems) problems.push_back(problem.message);
  out.begin_object()
      .members({{"schema", "mpiacq.stacks/1"},
                {"starter", json_of(snapshot.starter)},
                {"source", name(snapshot.origin.source)},
                {"launcher", name(snapshot.origin.launcher)},
                {"worlds", json_of_worlds(snapshot.worlds)},
                {"samples", snapshot.samples},
                {"interval_seconds", snapshot.interval.count()},
                {"held_seconds", snapshot.held.count()}})
      .key("ranks");
  write_ranks(out, snapshot);
  out.key("tree");
  write_tree(out, snapshot.tree, snapshot.names);
  out.member("problems", problems).end_object();
}

}  // namespace mpiacq::tool
