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

/// How the graph of a job is read.
struct graph_options {
  /// Servers are asked for the process of a core file alone: a walk would ask them for each process without MPI2DD.
  debug_file_search debug_files;
  core_file_options files;  ///< of a core file
  /// `canonical_host` and `is_elsewhere` are not used: all names of this host are one, and whatever is no name of it is
  /// elsewhere. A walk from a core file has nothing read elsewhere.
  mpi2dd::walk_options walk;
  /// `read_processes_here`: the user of the job. A process of another one is not looked at. Elsewhere the user of the
  /// process that is named, or of the core file, counts.
  std::optional<user_id> user = {};
  /// `look_at_graph`: processes of other hosts are read by an agent on each (docs/agents.md), which is started when the
  /// walk first meets the host. Where agents have no Slurm job to be started in, it is taken from the process that was
  /// named. A host that is not reached has its reason in `job_graph::others` and in the failure of each of its
  /// processes; what is wrong with one process is that process's failure alone. `everywhere` has no effect, since the
  /// named process is of this node. Empty: such processes stay unreachable, unless `walk.read_elsewhere` reads them.
  std::optional<agents_options> agents = {};
};

/// Another host of a job.
struct graph_host {
  std::string host;          ///< as the graph has it
  std::optional<error> why;  ///< nobody was reached there, or has said nothing more: why
};

/// The graph of a job, as seen from this node.
struct job_graph {
  mpi2dd::graph graph;
  /// What this host is called in the graph, whichever of its names a table has.
  std::string host;
  std::optional<std::string> core;  ///< path of the core file in which the walk began
  std::vector<error> problems;      ///< of the core file
  std::vector<graph_host> others;   ///< where agents were to look, in the order in which they were found
};

/// Walks the job of a process of this node: its starter, a directory, a metadirectory, or any rank. Processes are read
/// while they run: nothing is stopped, traced or written. `options.agents` reads processes of other hosts.
/// Thread: any; it uses threads of its own, and calls back on the caller's. Errors, all of the process that was named:
/// process_gone, permission, not_found (it has no MPI2DD_info), bad_format, unsupported, unreadable_memory (it has one
/// that is not the draft's).
[[nodiscard]] result<job_graph> look_at_graph(process_id named, const graph_options& options = {});

/// The same from a core file of such a process. What it names is looked at where that is still there: on this host, and
/// a process that runs the program which the tables name. Everything else is unreachable. A core does not say of which
/// host it is: it is of the one where its own tables have its process, else of this one if they name that, else of a
/// host without a name (""). Errors: as `core_file::open` and `core_symbols::open`; as above.
[[nodiscard]] result<job_graph> read_graph(const std::string& core, const graph_options& options = {});

/// The other side of `walk_options::read_elsewhere`: what these processes of this node say of themselves, whatever
/// their hosts are called. `options` as for `look_at_graph`. Thread: any; it uses threads of its own.
[[nodiscard]] std::vector<mpi2dd::process_account> read_processes_here(std::vector<mpi2dd::process_request> asked,
                                                                       const graph_options& options = {});

/// The Slurm job that a process of this node belongs to, as the environment says with which it was started (a number,
/// in decimal); empty where it says none or may not be read.
[[nodiscard]] std::optional<std::string> slurm_job_of(process_id process);

}  // namespace mpiacq
