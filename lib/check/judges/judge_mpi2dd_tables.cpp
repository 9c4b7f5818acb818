// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges the tables of an MPI2DD job.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "judges/judges.hpp"
#include "judges/judging_mpi2dd.hpp"

namespace mpiacq::check::judges {

namespace {

using mpi2dd::entry_problem;
using mpi2dd::listing;
using mpi2dd::table_field;
using mpi2dd::visit;

std::array<const listing*, 3> tables_of(const visit& v) {
  return {&v.processes, &v.directories, &v.metadirectories};
}

/// A clause on fields of entries: the first problem of one of them.
finding fields_are_good(const observations& o, std::initializer_list<table_field> fields, std::string_view good) {
  if (const auto why = no_graph(o)) return *why;
  const std::string wrong = first_wrong(o.mpi2dd.job->graph, [&](const visit& v) -> std::string {
    for (const listing* table : tables_of(v)) {
      for (const entry_problem& problem : table->problems) {
        if (std::find(fields.begin(), fields.end(), problem.field) == fields.end()) continue;
        return fmt::format("{}: {}", mpi2dd::name(table->kind), problem.sentence());
      }
    }
    return {};
  });
  if (!wrong.empty()) return failed("{}", wrong);
  return passed("{}", good);
}

std::string parent_name(const mpi2dd::graph& graph, const mpi2dd::spawn& s) {
  return fmt::format("{}:{}", s.parent_world ? graph.worlds()[index(*s.parent_world)].id : "?", s.parent_rank);
}

}  // namespace

finding mpi2dd_sizes(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const std::string wrong = first_wrong(o.mpi2dd.job->graph, [](const visit& v) -> std::string {
    for (const listing* table : tables_of(v)) {
      if (table->failure) return fmt::format("{}: {}", mpi2dd::name(table->kind), table->failure->message);
      if (table->shortfall) return fmt::format("{}: {}", mpi2dd::name(table->kind), table->shortfall->message);
    }
    return {};
  });
  if (!wrong.empty()) return failed("{}", wrong);
  return passed("each table has as many entries as is said");
}

finding mpi2dd_packed(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  bool has_entries = false;
  const std::string wrong = first_wrong(graph, [&](const visit& v) -> std::string {
    for (const listing* table : {&v.directories, &v.metadirectories}) {
      if (!table->stride) continue;
      has_entries = true;
      // 12 of a program of 32 bits are the same both ways.
      constexpr std::size_t padded = 24;
      if (table->stride->bytes == padded) return fmt::format("{}: {}", mpi2dd::name(table->kind), table->stride->why);
    }
    return {};
  });
  if (!wrong.empty()) return failed("{}", wrong);
  if (!has_entries)
    return not_applicable("no process lists directories or metadirectories; the others have no padding");
  return passed("no entry of a directory or metadirectory has padding");
}

finding mpi2dd_not_itself(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const std::string wrong = first_wrong(o.mpi2dd.job->graph, [](const visit& v) -> std::string {
    for (const listing* table : {&v.directories, &v.metadirectories}) {
      if (table->lists_itself) return fmt::format("stands in its own {}", mpi2dd::name(table->kind));
    }
    return {};
  });
  if (!wrong.empty()) return failed("{}", wrong);
  return passed("none does");
}

finding mpi2dd_hosts(const observations& o) {
  return fields_are_good(o, {table_field::host_name}, "all can be read");
}

finding mpi2dd_executables(const observations& o) {
  return fields_are_good(o, {table_field::executable_name}, "all can be read");
}

finding mpi2dd_worlds(const observations& o) {
  return fields_are_good(o, {table_field::comm_world_id}, "each process names its world");
}

finding mpi2dd_pids(const observations& o) {
  const finding fields = fields_are_good(o, {table_field::pid}, "each can be one, and those of this node live");
  if (fields.what != verdict::pass) return fields;
  for (const mpi2dd_rank_seen& rank : o.mpi2dd.ranks) {
    if (!rank.alive) return failed("rank {}: there is no process {} on this node", rank.name, rank.pid.value());
  }
  return fields;
}

/// A process without a world has failed another clause.
finding mpi2dd_ranks(const observations& o) {
  const finding fields = fields_are_good(o, {table_field::rank}, "each is one process's of its world");
  if (fields.what != verdict::pass) return fields;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  std::set<std::pair<std::uint32_t, std::int32_t>> taken;
  for (std::uint32_t i = 0; i < graph.process_count(); ++i) {
    const mpi2dd::process_number p{i};
    const auto world = graph.world_of(p);
    if (!graph.is_rank(p) || !world || graph.mentions(p) == 0) continue;
    if (!taken.emplace(index(*world), *graph.rank(p)).second) {
      return failed("{} is rank {} of world {}, and another process is as well", title_of(graph, p), *graph.rank(p),
                    graph.worlds()[index(*world)].id);
    }
  }
  return fields;
}

finding mpi2dd_spawns(const observations& o) {
  const finding fields =
      fields_are_good(o, {table_field::spawn_desc, table_field::parent_comm_world_id, table_field::parent_rank},
                      "each names a rank of a world of the job");
  if (fields.what != verdict::pass) return fields;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  if (graph.spawns().empty()) return not_applicable("nothing was spawned");
  const bool is_whole = std::all_of(graph.visits().begin(), graph.visits().end(),
                                    [](const visit& v) { return v.state == mpi2dd::visit_state::read; });
  for (const mpi2dd::spawn& s : graph.spawns()) {
    if (s.parent || !is_whole) continue;
    return failed("no table has {}, which is said to have spawned a world", parent_name(graph, s));
  }
  return fields;
}

finding mpi2dd_sequences(const observations& o) {
  const finding fields = fields_are_good(o, {table_field::sequence}, "from zero on, without gaps");
  if (fields.what != verdict::pass) return fields;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  if (graph.spawns().empty()) return not_applicable("nothing was spawned");
  std::map<std::string, std::set<std::int32_t>> of_parents;
  for (const mpi2dd::spawn& s : graph.spawns()) of_parents[parent_name(graph, s)].insert(s.sequence);
  for (const auto& [parent, sequences] : of_parents) {
    const std::int64_t all = *sequences.rbegin() + std::int64_t{1};
    if (*sequences.begin() == 0 && all == static_cast<std::int64_t>(sequences.size())) continue;
    return not_applicable("the tables have {} of the {} spawns of {}: the others may have ended", sequences.size(), all,
                          parent);
  }
  return fields;
}

finding mpi2dd_agreement(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  for (const mpi2dd::disagreement& d : graph.disagreements()) {
    return failed("{}: the {} of {} says that its {} is '{}', another that it is '{}'; {} in all",
                  title_of(graph, d.process), mpi2dd::name(d.kind), title_of(graph, d.table_of), mpi2dd::name(d.field),
                  d.said, d.stands, graph.disagreement_count());
  }
  return passed("whatever is said of a process twice is the same");
}

}  // namespace mpiacq::check::judges
