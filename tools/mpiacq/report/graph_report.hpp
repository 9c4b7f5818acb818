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

/// A tree as text; `colour` for a terminal.
[[nodiscard]] std::string graph_text(const job_graph& job, bool colour);
/// A `mpiacq.graph/1` document.
void write_graph(json_writer& out, const job_graph& job);
/// For Graphviz.
[[nodiscard]] std::string graph_dot(const job_graph& job);

// The parts that several of these reports share.

/// "5 ranks in 2 worlds, 3 directories, 1 metadirectory, on 1 host"
[[nodiscard]] std::string extent_of(const mpi2dd::graph& graph);
/// The hosts and programs of these: "on n1  app", "2 on n1, 2 on n2  app", "...".
[[nodiscard]] std::string places_of(const mpi2dd::graph& graph, std::span<const mpi2dd::process_number> processes,
                                    std::size_t most);

/// The ranks of one world that one directory lists.
struct world_part {
  std::optional<mpi2dd::world_number> world;  ///< empty: the world is not known
  rank_set ranks;
  std::size_t processes = 0;                    ///< including those without a rank
  std::vector<mpi2dd::process_number> members;  ///< in the table's order
};
/// In the order of their first entries in the table.
[[nodiscard]] std::vector<world_part> parts_of(const mpi2dd::graph& graph, const mpi2dd::visit& directory);

/// The graph as a tree of lists, with each process once.
struct graph_tree {
  struct node {
    std::size_t visit = 0;              ///< in `graph::visits`
    std::vector<std::size_t> children;  ///< nodes: the directories of a metadirectory
  };
  std::vector<node> nodes;
  std::vector<std::size_t> tops;  ///< nodes: metadirectories, then processes that none of them lists
};
[[nodiscard]] graph_tree tree_of(const mpi2dd::graph& graph);

/// Whether the process gets a line of its own: it is more than the rank at which the walk began.
[[nodiscard]] bool has_own_place(const mpi2dd::graph& graph, const mpi2dd::visit& visit);
/// "metadirectory, starter": from its flags, its tables and the tables that list it.
[[nodiscard]] std::vector<std::string> roles_of(const mpi2dd::graph& graph, const mpi2dd::visit& visit);
/// "w0:3"; "?:3" if its world is not known; empty for a process that is no rank.
[[nodiscard]] std::string rank_name(const mpi2dd::graph& graph, mpi2dd::process_number process);
/// "w0:1": the rank that spawned it; "?:1" if its world is not known.
[[nodiscard]] std::string parent_name(const mpi2dd::graph& graph, const mpi2dd::spawn& spawn);
/// The ranks of each world, from one pass over all processes.
[[nodiscard]] std::vector<rank_set> ranks_of_worlds(const mpi2dd::graph& graph);
/// The worlds that each spawn made, by its number.
[[nodiscard]] std::vector<std::vector<mpi2dd::world_number>> worlds_of_spawns(const mpi2dd::graph& graph);
/// The problems of a process and its tables, as sentences; at most `most`, then a note that there are more.
[[nodiscard]] std::vector<std::string> problems_of(const mpi2dd::graph& graph, const mpi2dd::visit& visit,
                                                   std::size_t most);

}  // namespace mpiacq::tool
