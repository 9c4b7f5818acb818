// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The graph of an MPI2DD job as reports show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::tool {

class json_writer;

/// A tree for people; `colour` for a terminal.
[[nodiscard]] std::string graph_text(const job_graph& job, bool colour);
/// A `mpiacq.graph/1` document.
void write_graph(json_writer& out, const job_graph& job);
/// For Graphviz.
[[nodiscard]] std::string graph_dot(const job_graph& job);

// What more than one of them needs.

/// "5 ranks in 2 worlds, 3 directories, 1 metadirectory, on 1 host"
[[nodiscard]] std::string extent_of(const mpi2dd::graph& graph);
/// Where these are and what they run: "on n1  app", "2 on n1, 2 on n2  app", "...".
[[nodiscard]] std::string places_of(const mpi2dd::graph& graph, std::span<const mpi2dd::process_number> processes,
                                    std::size_t most);
/// "rank 0", "ranks 0-3,7", "no ranks".
[[nodiscard]] std::string ranks_words(const rank_set& ranks);

/// The ranks of one world that one directory lists.
struct world_part {
  std::optional<mpi2dd::world_number> world;  ///< empty: processes whose world is not known
  rank_set ranks;
  std::size_t processes = 0;                    ///< also those whose rank is none
  std::vector<mpi2dd::process_number> members;  ///< in the table's order
};
/// In the order in which the table names them first.
[[nodiscard]] std::vector<world_part> parts_of(const mpi2dd::graph& graph, const mpi2dd::visit& directory);

/// Who lists whom, each process once: what is left of a graph for a tree.
struct graph_tree {
  struct node {
    std::size_t visit = 0;              ///< in `graph::visits`
    std::vector<std::size_t> children;  ///< nodes: the directories of a metadirectory
  };
  std::vector<node> nodes;
  std::vector<std::size_t> tops;  ///< nodes: metadirectories, then whatever none of them lists
};
[[nodiscard]] graph_tree tree_of(const mpi2dd::graph& graph);

/// Whether the process is worth a place of its own: more than the mere rank that a walk began at.
[[nodiscard]] bool has_own_place(const mpi2dd::graph& graph, const mpi2dd::visit& visit);
/// "metadirectory, starter": by its flags, its tables, and who lists it as what.
[[nodiscard]] std::vector<std::string> roles_of(const mpi2dd::graph& graph, const mpi2dd::visit& visit);
/// "w0:3"; "?:3" where its world is not known; empty for what is no rank.
[[nodiscard]] std::string rank_name(const mpi2dd::graph& graph, mpi2dd::process_number process);
/// "w0:1": who spawned it; "?:1" where its world is not known.
[[nodiscard]] std::string parent_name(const mpi2dd::graph& graph, const mpi2dd::spawn& spawn);
/// The ranks of each world, in one look at all processes.
[[nodiscard]] std::vector<rank_set> ranks_of_worlds(const mpi2dd::graph& graph);
/// The worlds that each spawn made, by its number.
[[nodiscard]] std::vector<std::vector<mpi2dd::world_number>> worlds_of_spawns(const mpi2dd::graph& graph);
/// What is wrong with a process or a table of its, in sentences; at most `most` of entries, then how many more.
[[nodiscard]] std::vector<std::string> problems_of(const mpi2dd::graph& graph, const mpi2dd::visit& visit,
                                                   std::size_t most);

}  // namespace mpiacq::tool
