// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_core.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_process.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "rank_stacks.hpp"

namespace mpiacq {

class rank_stopper;

/// The rank at this entry of the table.
[[nodiscard]] rank_process rank_of(const process_table& table, entry_index entry);

/// How the ranks of a node are identified, stopped and read.
struct node_ranks_options {
  tracer_options tracing;
  debug_file_search debug_files;  ///< for the names in stacks; a download delays only the caller, no rank
};

/// The ranks of this node that are held and looked at together.
///
/// `create` uses the pid of each rank once. Afterwards a pidfd and the start time stand for the process, so that a
/// later process with the same pid is never touched. The process must run the program that the table names, or an
/// environment variable of its launcher must confirm its rank (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK,
/// SLURM_PROCID), because wrappers exec. A process with such variables that all name another rank is refused. Its real,
/// effective, saved and file system user must be the starter's (process_user.hpp). The user is checked when this object
/// is made and at each hold.
///
/// Thread: one at a time.
class node_ranks {
 public:
  /// The selected ranks of a table that are on this node (hosts_on_this_node). Errors as `tracer::create`.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(const process_table& table,
                                                                  const rank_selection& selection = {},
                                                                  const node_ranks_options& options = {});
  /// The same; the caller's stopper replaces the tracer.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(const process_table& table,
                                                                  const rank_selection& selection,
                                                                  const node_ranks_options& options,
                                                                  std::unique_ptr<rank_stopper> grip);
  /// These ranks.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(std::vector<rank_process> ranks,
                                                                  const node_ranks_options& options = {});
  /// Any processes, as rank 0, 1, ... Their programs and environments are not checked.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> of_processes(std::span<const process_id> processes,
                                                                        const node_ranks_options& options = {});
  /// Releases the held ranks, which then run. The tracer server also releases them when this program is killed.
  ~node_ranks();
  node_ranks(const node_ranks&) = delete;
  node_ranks& operator=(const node_ranks&) = delete;

  /// The ranks, in order.
  [[nodiscard]] std::span<const rank_process> ranks() const;

  /// Stops all threads of all ranks, as nearly together as the kernel allows (tracer::attach_all). Returns one outcome
  /// for each rank, in order. Ranks that are held already stay held.
  [[nodiscard]] std::vector<rank_hold> hold();
  [[nodiscard]] std::size_t held_count() const;

  /// Restarts the time of `tracer_options::hold_limit` (node_ranks_options::tracing). Call it while ranks are held and
  /// this program still works on their data; `stacks` and `queues` call it themselves.
  void keep_held();

  /// Releases all ranks as they were found: a rank that a signal had stopped stays stopped. Returns one outcome for
  /// each rank, in order; success for a rank that was not held or has ended. Errors: timed_out: a thread does not stop
  /// now and is released when it does. limit: the tracer server released the rank earlier, because this program was
  /// silent for longer than the hold limit.
  std::vector<result<void>> release(leave how = leave::running);

  /// The registers of the threads of every rank that is held; invalid_argument for one that is not.
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(
      which_threads which = which_threads::all) const;

  /// Opens the gates of ranks (rank_gates.hpp). Nothing is held. Returns one outcome for each rank, in order. True: the
  /// rank waits at no gate, because its gate was opened, the rank has ended, or it was not selected. False: no gate was
  /// found in it. No rank is examined again once `stop` is readable. Errors: permission; those of reading its symbols.
  [[nodiscard]] std::vector<result<bool>> open_gates(const gate_options& options, int stop);
  /// Replaces `node_ranks_options::debug_files`. Call it before the first `stacks` or `queues`.
  void set_debug_files(debug_file_search search);

  /// Takes the stacks of ranks: holds the ranks that are not held, copies their stacks, releases them, and only then
  /// unwinds the copies and names their frames. The modules of the ranks stay cached for the next call. Stacks that are
  /// deeper than a megabyte, or that lead to another stack (sigaltstack), are unwound while their ranks are held once
  /// more.
  [[nodiscard]] node_stacks stacks(const stack_options& options = {});

  /// Reads the message queues of ranks: holds together all ranks that are not held, so that their reports are of one
  /// moment; lets the queue library of each rank read it, several at a time; and releases each rank as soon as it has
  /// been read. The activity of each rank is taken in the same hold. A failing library fails only for its own rank.
  [[nodiscard]] group_queues queues(const rank_queue_options& options = {});

  /// Follows all ranks to their ends (ends/node_ends.cpp): they run under the tracer from now on. Ranks that are held
  /// are released first. Returns one outcome for each rank, in order: `held` stands for followed.
  [[nodiscard]] std::vector<rank_hold> follow_ends(const follow_options& options = {});
  /// Releases all ranks, also those at their ends, and follows none any more.
  void unfollow_ends();
  /// Handles what has happened to followed ranks. The first rank that fails holds all ranks of this node.
  void serve_ends();
  /// The same; returns what has happened since the last call.
  [[nodiscard]] group_ends ends();
  /// Readable when `serve_ends` has something to do; -1: no rank is followed.
  [[nodiscard]] int ends_descriptor() const;
  /// Writes core files of the selected ranks that are held.
  [[nodiscard]] rank_cores write_cores(const rank_core_options& options);

 private:
  friend class spawn_watch;
  struct state;
  explicit node_ranks(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
