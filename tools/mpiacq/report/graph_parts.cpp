// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts that several reports of a graph share.
#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/call_chains.hpp"
#include "report/graph_report.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using namespace mpi2dd;

constexpr std::size_t most_problems_of_a_table = 4;

rank_set set_of(std::vector<std::uint32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  rank_set set;
  for (const std::uint32_t rank : ranks) set.add(rank);
  return set;
}

void add_problems(std::vector<std::string>& all, const listing& table) {
  if (table.failure) all.push_back(fmt::format("{}: {}", name(table.kind), table.failure->message));
  if (table.shortfall) all.push_back(fmt::format("{}: {}", name(table.kind), table.shortfall->message));
  const std::size_t shown = std::min(table.problems.size(), most_problems_of_a_table);
  for (std::size_t i = 0; i < shown; ++i) {
    all.push_back(fmt::format("{}: {}", name(table.kind), table.problems[i].sentence()));
  }
  if (table.problem_count > shown) {
    all.push_back(fmt::format("{}: {} more fields are wrong", name(table.kind), table.problem_count - shown));
  }
}

std::string subject_of(const graph& graph, const disagreement& d) {
  return fmt::format("{}: entry {} says {} '{}' of process {}; an earlier table says '{}'", name(d.kind), d.entry,
                     name(d.field), d.said, graph.pid(d.process).value(), d.stands);
}

}  // namespace

std::vector<world_part> parts_of(const graph& graph, const visit& directory) {
  constexpr std::uint32_t unknown = UINT32_MAX;
  std::vector<world_part> parts;
  std::vector<std::vector<std::uint32_t>> ranks;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const process_number p : directory.processes.entries) {
    const auto world = graph.world_of(p);
    const auto [place, is_new] = places.try_emplace(world ? index(*world) : unknown, parts.size());
    if (is_new) {
      parts.push_back({world, {}, 0, {}});
      ranks.emplace_back();
    }
    parts[place->second].members.push_back(p);
    if (const auto rank = graph.rank(p); rank && *rank >= 0) {
      ranks[place->second].push_back(static_cast<std::uint32_t>(*rank));
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].processes = parts[i].members.size();
    parts[i].ranks = set_of(std::move(ranks[i]));
  }
  return parts;
}

bool has_own_place(const graph& graph, const visit& visit) {
  const process_number p = visit.process;
  const bool is_mere_rank = graph.is_rank(p) && !visit.is_directory() && !visit.is_metadirectory() &&
                            !visit.is_starter() && !graph.is_listed_as_directory(p) &&
                            !graph.is_listed_as_metadirectory(p);
  return !is_mere_rank || !problems_of(graph, visit, 1).empty();
}

graph_tree tree_of(const graph& graph) {
  graph_tree tree;
  const auto visits = graph.visits();
  std::unordered_map<std::uint32_t, std::size_t> nodes;  // by process
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (!has_own_place(graph, visits[i])) continue;
    nodes.emplace(index(visits[i].process), tree.nodes.size());
    tree.nodes.push_back({i, {}});
  }
  std::vector<bool> placed(tree.nodes.size(), false);
  for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
    const visit& v = visits[tree.nodes[n].visit];
    placed[n] = v.is_metadirectory() || graph.is_listed_as_metadirectory(v.process);
    if (placed[n]) tree.tops.push_back(n);
  }
  for (std::size_t top = 0, count = tree.tops.size(); top < count; ++top) {
    graph_tree::node& node = tree.nodes[tree.tops[top]];
    for (const process_number p : visits[node.visit].directories.entries) {
      const auto child = nodes.find(index(p));
      if (child == nodes.end() || placed[child->second]) continue;
      placed[child->second] = true;
      node.children.push_back(child->second);
    }
  }
  for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
    if (!placed[n]) tree.tops.push_back(n);
  }
  return tree;
}

std::string places_of(const graph& graph, std::span<const process_number> processes, std::size_t most) {
  std::vector<std::pair<std::string_view, std::size_t>> hosts;
  std::map<std::string_view, std::size_t> host_places;
  std::map<std::string_view, std::size_t> programs;
  for (const process_number p : processes) {
    const std::string_view host = graph.host(p).value_or("");
    const auto [place, is_new] = host_places.try_emplace(host, hosts.size());
    if (is_new) hosts.emplace_back(host, 0);
    ++hosts[place->second].second;
    ++programs[graph.executable(p).value_or("")];
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(hosts.size(), most); ++i) {
    const std::string host = hosts[i].first.empty() ? "an unknown host" : printable(hosts[i].first);
    words.push_back(hosts.size() == 1 ? "on " + host : fmt::format("{} on {}", hosts[i].second, host));
  }
  if (hosts.size() > most) words.push_back(fmt::format("{} more hosts", hosts.size() - most));
  const std::string text = fmt::format("{}", fmt::join(words, ", "));
  if (programs.size() != 1) return text + fmt::format("  {} programs", programs.size());
  return text + "  " + printable(std::filesystem::path(programs.begin()->first).filename().string());
}

std::string extent_of(const graph& graph) {
  std::size_t ranks = 0, directories = 0, metadirectories = 0;
  std::unordered_set<std::string_view> hosts;
  for (std::uint32_t i = 0; i < graph.process_count(); ++i) {
    ranks += graph.is_rank(process_number{i}) ? 1U : 0U;
    hosts.insert(graph.host(process_number{i}).value_or(""));
  }
  for (const visit& v : graph.visits()) {
    directories += v.is_directory() || graph.is_listed_as_directory(v.process) ? 1U : 0U;
    metadirectories += v.is_metadirectory() || graph.is_listed_as_metadirectory(v.process) ? 1U : 0U;
  }
  return fmt::format(
      "{} in {}, {}, {}, on {}", counted(ranks, "rank", "ranks"), counted(graph.worlds().size(), "world", "worlds"),
      counted(directories, "directory", "directories"), counted(metadirectories, "metadirectory", "metadirectories"),
      counted(hosts.size(), "host", "hosts"));
}

std::vector<std::string> roles_of(const graph& graph, const visit& visit) {
  std::vector<std::string> roles;
  if (visit.is_metadirectory() || graph.is_listed_as_metadirectory(visit.process)) roles.emplace_back("metadirectory");
  if (visit.is_starter()) roles.emplace_back("starter");
  if (visit.is_directory() || graph.is_listed_as_directory(visit.process)) roles.emplace_back("directory");
  if (graph.is_rank(visit.process)) roles.emplace_back("rank");
  return roles;
}

std::string rank_name(const graph& graph, process_number process) {
  const auto rank = graph.rank(process);
  if (!rank) return {};
  const auto world = graph.world_of(process);
  return fmt::format("{}:{}", world ? graph.worlds()[index(*world)].id : "?", *rank);
}

std::string parent_name(const graph& graph, const spawn& spawn) {
  return fmt::format("{}:{}", spawn.parent_world ? graph.worlds()[index(*spawn.parent_world)].id : "?",
                     spawn.parent_rank);
}

std::vector<rank_set> ranks_of_worlds(const graph& graph) {
  std::vector<std::vector<std::uint32_t>> ranks(graph.worlds().size());
  for (std::uint32_t i = 0; i < graph.process_count(); ++i) {
    const auto world = graph.world_of(process_number{i});
    const auto rank = graph.rank(process_number{i});
    if (world && rank && *rank >= 0) ranks[index(*world)].push_back(static_cast<std::uint32_t>(*rank));
  }
  std::vector<rank_set> sets;
  for (auto& all : ranks) sets.push_back(set_of(std::move(all)));
  return sets;
}

std::vector<std::vector<world_number>> worlds_of_spawns(const graph& graph) {
  std::vector<std::vector<world_number>> made(graph.spawns().size());
  for (std::uint32_t i = 0; i < graph.worlds().size(); ++i) {
    if (const auto spawn = graph.worlds()[i].spawn) made[index(*spawn)].push_back(world_number{i});
  }
  return made;
}

std::vector<std::string> problems_of(const graph& graph, const visit& visit, std::size_t most) {
  std::vector<std::string> all;
  if (visit.state == visit_state::no_interface) {
    all.push_back(fmt::format("it has no {}, so that the walk ends here", info_symbol));
  }
  if (visit.failure) all.push_back(fmt::format("{}: {}", name(visit.state), visit.failure->message));
  for (const error& warning : visit.warnings) all.push_back(warning.message);
  for (const listing* table : {&visit.processes, &visit.directories, &visit.metadirectories}) add_problems(all, *table);
  for (const disagreement& d : graph.disagreements()) {
    if (all.size() > most) break;
    if (d.table_of == visit.process) all.push_back(subject_of(graph, d));
  }
  if (all.size() > most) {
    all.resize(most);
    all.emplace_back("and more: see --json");
  }
  return all;
}

}  // namespace mpiacq::tool
