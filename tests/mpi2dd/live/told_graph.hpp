// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The text of a graph, and of the records that the processes of the job wrote, in the same format.
#pragma once

#include <set>
#include <string>

#include "catch.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "reference_job.hpp"

namespace mpiacq::test {

using words = std::set<std::string>;

inline job_graph graph_from(pid_t pid) {
  auto seen = look_at_graph(process_id{pid});
  if (!seen) FAIL(seen.error().message);
  return std::move(*seen);
}

/// "w0 2 is 4711": each rank that a table has.
inline words ranks_of(const mpi2dd::graph& g) {
  words all;
  for (std::uint32_t i = 0; i < g.process_count(); ++i) {
    const mpi2dd::process_number p{i};
    if (!g.is_rank(p)) continue;
    const auto world = g.world_of(p);
    all.insert(std::string(world ? g.worlds()[index(*world)].id : "?") + " " + std::to_string(*g.rank(p)) + " is " +
               std::to_string(g.pid(p).value()));
  }
  return all;
}
inline words told_ranks(const reference_job& job) {
  words all;
  for (const auto& [key, value] : job.all_said()) {
    if (!key.starts_with("rank.") || !key.ends_with(".pid")) continue;
    const std::string name = key.substr(5, key.size() - 9);
    const std::size_t dot = name.rfind('.');
    all.insert(name.substr(0, dot) + " " + name.substr(dot + 1) + " is " + value);
  }
  return all;
}

/// "w1 of w0 0 0": each spawned world, with its parent's world and rank and the spawn's number.
inline words spawns_of(const mpi2dd::graph& g) {
  words all;
  for (const mpi2dd::world& w : g.worlds()) {
    if (!w.spawn) continue;
    const mpi2dd::spawn& s = g.spawns()[index(*w.spawn)];
    all.insert(std::string(w.id) + " of " + std::string(s.parent_world ? g.worlds()[index(*s.parent_world)].id : "?") +
               " " + std::to_string(s.parent_rank) + " " + std::to_string(s.sequence));
  }
  return all;
}
inline words told_spawns(const reference_job& job) {
  constexpr std::string_view end = ".spawned_by";
  words all;
  for (const auto& [key, value] : job.all_said()) {
    if (key.starts_with("world.") && key.ends_with(end)) {
      all.insert(key.substr(6, key.size() - 6 - end.size()) + " of " + value);
    }
  }
  return all;
}

/// The pids of directories, and of metadirectories, by their tables and flags.
inline std::set<pid_t> directories_of(const mpi2dd::graph& g) {
  std::set<pid_t> all;
  for (const mpi2dd::visit& v : g.visits()) {
    if (v.is_directory()) all.insert(static_cast<pid_t>(g.pid(v.process).value()));
  }
  return all;
}
inline std::set<pid_t> metadirectories_of(const mpi2dd::graph& g) {
  std::set<pid_t> all;
  for (const mpi2dd::visit& v : g.visits()) {
    if (v.is_metadirectory()) all.insert(static_cast<pid_t>(g.pid(v.process).value()));
  }
  return all;
}

inline const mpi2dd::visit& visit_at(const job_graph& seen, pid_t pid) {
  const auto p = seen.graph.find(seen.host, process_id{pid});
  INFO(pid);
  REQUIRE(p.has_value());
  const mpi2dd::visit* v = seen.graph.visit_of(*p);
  REQUIRE(v != nullptr);
  return *v;
}

/// Checks that the graph has no problem, warning or contradiction.
inline void check_clean(const mpi2dd::graph& g) {
  for (const mpi2dd::visit& v : g.visits()) {
    INFO(g.pid(v.process).value() << ": " << (v.failure ? v.failure->message : ""));
    CHECK(v.state == mpi2dd::visit_state::read);
    CHECK_FALSE(v.failure.has_value());
    for (const error& warning : v.warnings) UNSCOPED_INFO(warning.message);
    CHECK(v.warnings.empty());
    for (const mpi2dd::listing* table : {&v.processes, &v.directories, &v.metadirectories}) {
      CHECK_FALSE(table->failure.has_value());
      CHECK(table->problem_count == 0);
    }
  }
  CHECK(g.disagreement_count() == 0);
}

}  // namespace mpiacq::test
