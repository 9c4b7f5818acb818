// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/core_file.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/agents_options.hpp"

namespace mpiacq {

/// How the graph of an MPI2DD job is read.
struct graph_options {
  /// Debuginfod servers are asked only for the process of a core file; a walk would ask them for each process without
  /// MPI2DD.
  debug_file_search debug_files;
  core_file_options files;  ///< for a core file
  /// Limits of the walk. `canonical_host` and `is_elsewhere` are not used: all names of this host count as one, and
  /// every other name is another host. A walk from a core file reads nothing on other hosts.
  mpi2dd::walk_options walk;
  /// For `read_processes_here`: the user of the job. Processes of other users are not examined. The other functions use
  /// the user of the named process or of the core file.
  std::optional<user_id> user = {};
  /// For `look_at_graph`: an agent on each other host reads the processes there (docs/agents.md). It starts when the
  /// walk finds the first process of its host. If `job_id` is empty, it is taken from the named process. A host that is
  /// not reached has the reason in `job_graph::others` and in each of its processes; a fault of one process belongs to
  /// that process alone. `everywhere` has no effect, because the named process is on this node. Empty: processes of
  /// other hosts are unreachable unless `walk.read_elsewhere` reads them.
  std::optional<agents_options> agents = {};
};

/// Another host of a job.
struct graph_host {
  std::string host;          ///< as the graph names it
  std::optional<error> why;  ///< why no agent was reached there, or why it stopped answering; empty: it answered
};

/// The graph of a job, as seen from this node.
struct job_graph {
  mpi2dd::graph graph;  ///< the processes and their tables
  /// The name of this host in the graph; tables may use several of its names.
  std::string host;
  std::optional<std::string> core;  ///< path of the core file in which the walk began
  std::vector<error> problems;      ///< of the core file
  std::vector<graph_host> others;   ///< the other hosts in the order in which they were found
};

/// Reads the graph of a job. `named` is a process of this node: the starter, a directory, a metadirectory, or any rank.
/// Processes are read while they run: the call stops, traces and writes nothing. With `options.agents`, agents read
/// processes of other hosts. Thread: any; it uses threads of its own and calls back on the caller's. Errors, all of the
/// named process: process_gone, permission, not_found (no MPI2DD_info), bad_format, unsupported, unreadable_memory (its
/// MPI2DD_info does not follow the draft).
[[nodiscard]] result<job_graph> look_at_graph(process_id named, const graph_options& options = {});

/// The same from a core file of such a process. Processes that its tables name are examined if they still exist on this
/// host and run the program that the tables name. All others are unreachable. A core file does not name its host: it is
/// the host where its tables list its own process, otherwise this host if the tables name it, otherwise a host without
/// a name (""). Errors: as `core_file::open`, `core_symbols::open` and `look_at_graph`.
[[nodiscard]] result<job_graph> read_graph(const std::string& core, const graph_options& options = {});

/// The other side of `walk_options::read_elsewhere`: reads the tables of these processes of this node, whatever names
/// their hosts have. `options` as for `look_at_graph`. Thread: any; it uses threads of its own.
[[nodiscard]] std::vector<mpi2dd::process_account> read_processes_here(std::vector<mpi2dd::process_request> asked,
                                                                       const graph_options& options = {});

/// The id of the Slurm job to which a process of this node belongs, in decimal, from the environment with which the
/// process was started. Empty if it has none or cannot be read.
[[nodiscard]] std::optional<std::string> slurm_job_of(process_id process);

}  // namespace mpiacq
