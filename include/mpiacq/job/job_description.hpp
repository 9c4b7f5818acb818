// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The description of a job: one value, for jobs that are only observed and for jobs under control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/agents_options.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_options.hpp"

namespace mpiacq {

/// The source of a job's process table. The first two are interfaces, by which a job announces its processes.
enum class interface_kind : std::uint8_t {
  mpir,    ///< MPIR 1.1: the starter has one table
  mpi2dd,  ///< MPI2DD (docs/mpi2dd.md): many processes have tables, and ranks announce what they spawn
  pmix,    ///< PMIx: the starter answers the questions of tools (Open MPI 5, PRRTE)
  /// The variables that launchers set in the environment of ranks (docs/sources.md), where no process has a table. The
  /// starter of such a job announces nothing and is not traced; the ranks of this node can be held.
  environment,
};
[[nodiscard]] std::string_view name(interface_kind kind);  ///< "mpir", "mpi2dd", "pmix", "environment"

/// The starter of a job.
struct starter_facts {
  /// Of the process that defines the interface, not of a wrapper before it. With `interface_kind::environment`: of the
  /// launcher's program or daemon on this node; -1 if there is none.
  process_id pid;
  std::string executable;  ///< its path, from /proc/PID/exe
  bool launched = true;    ///< by this program (MPIR's launch mode); false: it ran before
  std::string found_how;   ///< one sentence, if the caller named another process: how the starter was found
  bool is_rank = false;    ///< it is rank 0 itself (MPIR 1.1, 9.10), or is in a process table (MPI2DD)
  bool has_both = false;   ///< it has both MPIR and MPI2DD
};

/// The kind of software that started a job.
enum class launcher_kind : std::uint8_t { unknown, open_mpi, prrte, hydra, slurm, flux, pals, torchrun };
/// "unknown", "open-mpi", "prrte", "hydra", "slurm", "flux", "pals", "torchrun"
[[nodiscard]] std::string_view name(launcher_kind kind);
/// The kind of a starter, by the name of its executable ("prterun", "mpiexec.hydra").
[[nodiscard]] launcher_kind launcher_of(std::string_view executable);

/// For each string of the table, indexed by its number: whether it names this host, by name, by address, or by the name
/// that the resource manager uses. Names are not looked up in the DNS, because a lookup can hang.
[[nodiscard]] std::vector<bool> hosts_on_this_node(const process_table& table);

/// Which entries of a process table are on this node. Thread: a value.
class entry_locality {
 public:
  /// For a table without entries.
  entry_locality() = default;
  /// For this table.
  explicit entry_locality(const process_table& table);
  /// The same, for a caller that has `hosts_on_this_node(table)` already.
  entry_locality(const process_table& table, const std::vector<bool>& local_hosts);

  /// Whether an entry is on this node. False for an entry that the table does not have.
  [[nodiscard]] bool is_local(entry_index entry) const {
    return entry.value() < local_.size() && local_[entry.value()];
  }
  /// The number of entries.
  [[nodiscard]] std::size_t size() const { return local_.size(); }

 private:
  std::vector<bool> local_;
};

/// The processes of this node that the table lists although they belong to another user than the starter. They are no
/// ranks (process_user.hpp). Returns one error (permission) for each such user, which names the user and the entries.
/// Empty for a table without a user.
[[nodiscard]] std::vector<error> other_users_ranks(const process_table& table, const entry_locality& locality);

/// The description of a job. Functions take it whole. Thread: a value.
struct job_description {
  starter_facts starter;                            ///< the process that started it
  launcher_kind launcher = launcher_kind::unknown;  ///< the kind of software that started it
  interface_kind source = interface_kind::mpir;     ///< the interface that has the process table
  std::shared_ptr<const process_table> processes;   ///< of `job::find`: never null, never empty
  entry_locality locality;                          ///< of the entries of `processes`
  mpir::job_facts facts;                            ///< what the starter announces beside the table
  std::vector<error> problems;                      ///< with the table as a whole
  bool is_controlled = false;  ///< this program traces the starter; otherwise it only observes the job

  /// Whether an entry is on this node.
  [[nodiscard]] bool is_local(entry_index entry) const { return locality.is_local(entry); }
  /// The selected entries, in order.
  [[nodiscard]] std::vector<entry_index> selected(const rank_selection& ranks) const;

  /// A group of the selected ranks. This program examines the ranks of this node. Agents, which this call starts and
  /// waits for, examine those of other nodes; without `options.agents` the group leaves these out. The description
  /// gives what `options` leave empty: `queues.starter`, and for agents the Slurm job, the user, and the starter if it
  /// can launch daemons. A node that is not reached is no error: `rank_group::nodes` has the reason. With more nodes
  /// than the soft limit of descriptors allows, the call raises this limit until the group ends. Errors:
  /// invalid_argument (`select`, or there is no table), and as `tracer::create`.
  [[nodiscard]] result<rank_group> ranks(const rank_options& options = {}) const;
  /// The same with agents that the starter launches as its daemons. If it has refused to, or if no agent arrives, the
  /// other ways of `options` are tried.
  [[nodiscard]] result<rank_group> ranks(const rank_options& options, awaited_agents&& coming) const;
};

/// How `job::find` looks for a job.
struct find_options {
  table_limits limits;            ///< for the process table
  debug_file_search debug_files;  ///< for the symbols of the starter
  /// The source of the process table. Empty: MPI2DD where it is there, else MPIR, else PMIx, else the environment of
  /// the ranks.
  std::optional<interface_kind> interface = {};
  /// MPI2DD, and the environment of ranks: how processes of other hosts are found. With MPI2DD an agent on each host
  /// reads their tables, with the environment it looks for ranks of the job (docs/agents.md). An agent starts when the
  /// first process of its host is found, and ends before `job::find` returns. If `job_id` is empty, it is taken from
  /// the process that the caller named. Each process with tables on a host that is not reached is one of the
  /// description's problems. `everywhere` has no effect. Empty: such tables are not read, and their ranks are unknown
  /// unless a table of this node has them too. With MPIR no agent is needed: the starter has the table of the whole
  /// job.
  std::optional<agents_options> agents = {};
  /// The environment of ranks: the hosts on which `agents` look for the ranks that are not on this node. Empty: those
  /// that the launcher names (docs/sources.md).
  std::vector<std::string> hosts = {};
  /// Replaces `agents`: the caller's own reader. It is called on the thread that calls `job::find`.
  mpi2dd::elsewhere_reader read_elsewhere = {};
};

}  // namespace mpiacq
