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
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_process.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "rank_stacks.hpp"

namespace mpiacq {

class rank_stopper;

/// An entry of a table.
[[nodiscard]] rank_process rank_of(const process_table& table, entry_index entry);

/// How the ranks of a node are looked after.
struct node_ranks_options {
  tracer_options tracing;
  debug_file_search debug_files;  ///< for the names in stacks; a download would hold nobody, but whoever waits for them
};

/// The ranks of this node that are held and looked at together.
///
/// A process id is trusted only once, when this is made: from then on a process is known by a pidfd and its start time,
/// and a process that gets its id later is never touched. The program that it runs must be the one that the table
/// names, or an environment variable of its launcher must say that it is this rank (OMPI_COMM_WORLD_RANK, PMIX_RANK,
/// PMI_RANK, SLURM_PROCID), since wrappers exec; where such variables are there and all say another rank, it is not
/// this one. Its real, effective, saved and file system user must be the starter's (process_user.hpp): that is checked
/// when this is made, and again each time when the rank is held.
///
/// Thread: one at a time.
class node_ranks {
 public:
  /// The ranks of a table that were selected and are on this node (hosts_on_this_node). Errors as `tracer::create`.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(const process_table& table,
                                                                  const rank_selection& selection = {},
                                                                  const node_ranks_options& options = {});
  /// The same with a stopper of the caller's in place of a tracer.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(const process_table& table,
                                                                  const rank_selection& selection,
                                                                  const node_ranks_options& options,
                                                                  std::unique_ptr<rank_stopper> grip);
  /// These ones.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> create(std::vector<rank_process> ranks,
                                                                  const node_ranks_options& options = {});
  /// Any processes, as rank 0, 1, ... What they run and what their environment says is not asked.
  [[nodiscard]] static result<std::unique_ptr<node_ranks>> of_processes(std::span<const process_id> processes,
                                                                        const node_ranks_options& options = {});
  /// Releases what is held, running. What is held goes on also where this program is killed.
  ~node_ranks();
  node_ranks(const node_ranks&) = delete;
  node_ranks& operator=(const node_ranks&) = delete;

  /// The ranks, in order.
  [[nodiscard]] std::span<const rank_process> ranks() const;

  /// Stops all threads of all ranks, as nearly together as the kernel allows (tracer::attach_all). One outcome for each
  /// rank, in order. Those that are held already stay so.
  [[nodiscard]] std::vector<rank_hold> hold();
  /// The number of ranks that are held.
  [[nodiscard]] std::size_t held_count() const;

  /// Starts the time of `tracer_options::hold_limit` again (node_ranks_options::tracing). Call it while ranks are held
  /// and this program works with what it has read of them; `stacks` and `queues` do so themselves.
  void keep_held();

  /// Lets all go on as they were found: a rank that was stopped by a signal stays stopped. One outcome for each rank,
  /// in order; fine for one that was not held, or has ended. timed_out: a thread is let go when it comes back. limit:
  /// the tracing process has let go of the rank before, because this program was silent for too long.
  std::vector<result<void>> release(leave how = leave::running);

  /// The registers of the threads of every rank that is held; invalid_argument for one that is not.
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(
      which_threads which = which_threads::all) const;

  /// Opens the gates that ranks wait at (rank_gates.hpp). Nothing is held. One outcome for each rank, in order. True:
  /// it waits at no gate any more: it was opened, the rank has ended, or was not selected. False: no gate was seen in
  /// it. Errors: permission; those of reading its symbols.
  [[nodiscard]] std::vector<result<bool>> open_gates(const gate_options& options);
  /// In place of `node_ranks_options::debug_files`, before the first stacks or queues.
  void set_debug_files(debug_file_search search);

  /// Takes the stacks of ranks: holds those that are not held, copies their stacks, lets them go again, and only then
  /// walks and names what it has. What it has learnt of the ranks' modules is kept for the next time. Stacks that are
  /// deeper than a megabyte, or lead to another one (sigaltstack), are walked while their ranks are held once more.
  [[nodiscard]] node_stacks stacks(const stack_options& options = {});

  /// Reads the message queues of ranks: holds those that are not held, all together, so that what they say fits
  /// together; has each one's queue library read it, several side by side; and lets each go again as soon as it has
  /// been read. What a rank is doing is looked at in the same hold. A library that fails fails for its rank alone.
  [[nodiscard]] group_queues queues(const rank_queue_options& options = {});

 private:
  friend class spawn_watch;
  struct state;
  explicit node_ranks(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
