// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks that are held and examined together, on this node and on others.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/confirmed_waits.hpp"
#include "mpiacq/ranks/rank_core.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_process.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"

namespace mpiacq {

struct group_parts;  // private to the library

/// Ranks of a job that are held and examined together: ranks of this node, ranks that a `job` of this program traces,
/// and ranks of other nodes, through agents. `job_description::ranks` and `job::ranks` make a group.
///
///   auto ranks = description.ranks({.select = "0-15", .until = in(30s)});
///   for (const auto& rank : ranks->hold()) ...
///   auto tree = ranks->stacks();
///   (void)ranks->release();
///
/// The group trusts a pid only once, when it is made. It then identifies the process (lib/ranks/README.md has the
/// rules) and knows it by a pidfd and its start time from then on. A process that gets the same pid later is never
/// touched. The user of the process must be the starter's; the group checks this again each time it holds the rank.
///
/// A node that is not reached, or is lost, costs only its own ranks: each of them has the reason in every result. When
/// the group ends, all agents end and leave their ranks as they found them. Ranks that this program holds continue when
/// the group ends, and also when this program is killed.
///
/// The group does not write MPIR_being_debugged of a rank (MPIR 1.1, 9.3). The variable tells a running process that a
/// tool is attached, and the group is attached only while all threads of the rank are stopped: the rank could never
/// read a 1. `job::hold_ranks` writes it.
///
/// Ownership: a value that can be moved. A group that `job::ranks` made ends before its job. A forked child has a copy
/// of the group that it cannot use; the end of that copy changes nothing.
/// Thread: one at a time.
class rank_group {
 public:
  /// A group of any processes of this node, which become entries 0, 1, ... No process table confirms them. Errors: as
  /// `tracer::create`.
  [[nodiscard]] static result<rank_group> of_processes(std::span<const process_id> processes,
                                                       const rank_options& options = {});
  /// A group of these ranks of this node. `ranks` is in the order of entries. Errors: as `tracer::create`.
  [[nodiscard]] static result<rank_group> of_ranks(std::vector<rank_process> ranks, const rank_options& options = {});
  ~rank_group();
  rank_group(rank_group&&) noexcept;
  rank_group& operator=(rank_group&&) noexcept;

  /// The ranks in the order of entries. Valid as long as the group.
  [[nodiscard]] std::span<const rank_process> ranks() const;
  /// The nodes of the ranks in the order of their lowest entries, with their present state.
  [[nodiscard]] std::vector<job_node> nodes() const;

  /// Stops all threads of all ranks, as nearly at once as the kernel allows (tracer::attach_all). Returns one outcome
  /// for each rank, in order. Ranks that are held already stay held. A rank whose node is not reached has `failed`.
  [[nodiscard]] std::vector<rank_hold> hold();
  /// Restarts the time of `tracer_options::hold_limit`. Call it while ranks of this node are held and your program
  /// works on what it has read. All other calls of the group restart the time too.
  void keep_held();
  /// Releases all ranks as they were found: a rank that a signal had stopped stays stopped. Returns one outcome for
  /// each rank, in order. It is no error if a rank was not held, has ended, or is on a lost node (the tracer there
  /// releases it). Errors: timed_out (a thread waits in the kernel, and is released when it returns), limit (the tracer
  /// server has released the rank before, because this program was silent for too long).
  std::vector<result<void>> release(leave how = leave::running);
  /// The registers of the threads of each rank that is held. Returns one outcome for each rank, in order. Errors:
  /// invalid_argument (the rank is not held), unsupported (it is on another node).
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(
      which_threads which = which_threads::all) const;

  /// Takes stacks: holds the ranks that are not held, copies their stacks, releases them, and only then unwinds the
  /// copies and names the frames. The group keeps what it learns of the ranks' modules for the next call. A stack of
  /// more than a megabyte, or one that continues on another stack (sigaltstack), is unwound while its rank is held once
  /// more. A rank that another tool holds is tried again for a moment. `stack_options::arguments` asks for the
  /// arguments of MPI calls, too: all ranks then stay held until they have been read.
  [[nodiscard]] group_stacks stacks(const stack_options& options);
  /// The same with `rank_options::stacks`.
  [[nodiscard]] group_stacks stacks();
  /// Reads message queues. It holds all ranks that are not held at once, so that their queues fit together. The queue
  /// library of each rank reads it, several ranks at a time, and each rank is released as soon as it is read. The call
  /// that a rank is in is taken during the same hold. A library that fails costs only the report of its rank.
  [[nodiscard]] group_queues queues(const rank_queue_options& options);
  /// The same with `rank_options::queues`.
  [[nodiscard]] group_queues queues();
  /// Finds which rank waits for which. It reads the queues of all ranks, and of processes of this node that they have
  /// spawned (Message Queue Dumping 1.06, "Collecting new processes"). It tries ranks again that another tool holds for
  /// a moment. Where it finds a deadlock, it looks a second time. Errors: system (no memory). A limit that passes is no
  /// error.
  [[nodiscard]] result<confirmed_waits> waits(const waits_options& options = {});

  /// Opens the gates at which ranks wait. It holds no rank. Once the group's limit ends it, no rank is examined again.
  [[nodiscard]] opened_gates open_gates(const gate_options& options);
  /// Follows the ranks of this node whose queue libraries name a function that announces new processes; `seen` is the
  /// result of `queues`. Ranks that the group holds continue. Empty if there is no such rank. The group remains usable,
  /// but the ranks of the watch are `busy` until the watch ends, because a process has only one tracer.
  [[nodiscard]] std::unique_ptr<spawn_watch> watch_spawns(const group_queues& seen, const rank_queue_options& options);

  /// Follows all ranks to their ends. They run under the tracers of their nodes from now on, and each rank is held just
  /// before it ends. A rank that ends as it should ends at once. The first rank that fails (`is_failure`) holds all
  /// ranks of its node; `ends` says so. Other calls of the group work as before: a release lets a followed rank run.
  /// Ranks that are held are released first. Returns one outcome for each rank, in order: `held` stands for followed.
  /// Errors: as `hold`; unsupported (the job traces its ranks already, with a tracer that does not report ends).
  [[nodiscard]] std::vector<rank_hold> follow_ends(const follow_options& options = {});
  /// What has happened to followed ranks since the last call, on all nodes. If a rank has failed, the call holds the
  /// ranks of all other nodes, too. SIGKILL reaches ranks that are held: they are held at their ends then. `release` or
  /// `unfollow_ends` lets the failed ranks end with the status that they would have had. If this program is killed, or
  /// makes no call for the hold limit, its ranks are released.
  [[nodiscard]] group_ends ends();
  /// Readable when `ends` has something to tell of the ranks of this node; -1: none is followed. Ranks of other nodes
  /// have no descriptor: a program with agents calls `ends` now and then.
  [[nodiscard]] int ends_descriptor() const;
  /// Releases all followed ranks, also those at their ends, and follows none any more.
  void unfollow_ends();
  /// Writes core files of ranks that are held, each on its node. `write_core` (core_writer.hpp) says what is in them. A
  /// core file of another user's process belongs to the user of this program. Errors of each rank: invalid_argument
  /// (the rank is not held); system (with the path and the reason of the system).
  [[nodiscard]] rank_cores write_cores(const rank_core_options& options);

 private:
  friend struct group_parts;
  explicit rank_group(std::unique_ptr<group_parts> parts);
  std::unique_ptr<group_parts> parts_;
};

}  // namespace mpiacq
