// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Which ranks a group has, how they are examined, and how long it may take: one structure that is passed whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/queue_host.hpp"
#include "mpiacq/queues/queue_types.hpp"
#include "mpiacq/ranks/agents_options.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq {

enum class interface_kind : std::uint8_t;  // job_description.hpp

/// Which ranks a group has: a selection, or its text ("0-15", "1:all"). The call that makes the group reports a mistake
/// in the text.
class rank_filter {
 public:
  rank_filter() = default;  ///< all ranks
  // NOLINTBEGIN(google-explicit-constructor): `.select = "0-15"` is what people write.
  /// These ranks.
  rank_filter(rank_selection selection) : selection_(std::move(selection)) {}
  /// The ranks that the text names.
  rank_filter(const char* text) : selection_(rank_selection::parse(text)) {}
  /// The ranks that the text names.
  rank_filter(const std::string& text) : selection_(rank_selection::parse(text)) {}
  // NOLINTEND(google-explicit-constructor)
  /// The selection. Errors: invalid_argument with the invalid part of the text.
  [[nodiscard]] const result<rank_selection>& selection() const { return selection_; }

 private:
  result<rank_selection> selection_;
};

/// How stacks are taken.
struct stack_options {
  rank_selection ranks = {};  ///< among those of the group
  which_threads threads = which_threads::first;
  std::size_t max_frames = 65536;  ///< of one stack, at most
  /// Read the arguments of the MPI call that the first thread of each rank is in. The ranks then stay held until they
  /// have been read, while stacks are unwound and named.
  bool arguments = false;
  /// Do not touch a rank that a signal has stopped (state T): refuse it, and name it in `group_stacks::stopped`. A
  /// launcher may have stopped it, and be about to continue it: Slurm's daemon does not continue a task that has a
  /// tracer at that moment. The state is read once, before the look.
  bool leave_stopped = false;
  /// Let the ranks run before the look: each is held only after its first thread has used a processor for so long, or
  /// sleeps, but after three seconds at the latest. Those that did not get that far are in `group_stacks::not_run`. 0:
  /// do not wait.
  clock::duration run_first = {};
  /// Say where each rank is in numbers: `group_stacks::positions`.
  bool positions = false;
};

/// How ranks are followed to their ends.
struct follow_options {
  /// Continue the ranks that a signal has stopped. For a job that has been launched a moment ago: Slurm's daemon stops
  /// each task before its program begins, and leaves it to a tracer to continue the tasks that have one.
  bool continue_stopped = false;
};

/// How the message queues of ranks are read.
struct rank_queue_options {
  rank_selection ranks = {};  ///< among those of the group
  std::string library = {};   ///< the path of the queue library; empty: the one that each rank names
  /// The reason for loading no queue library (MPIR 1.1, 9.14: the starter defines MPIR_ignore_queues). The report of
  /// each rank then is this error (unsupported), and `rank_report::doing` is known all the same. Empty: libraries are
  /// loaded.
  std::string no_library = {};
  /// MPI2DD: the starter. It names a library for ranks of this node that name none, and says whether they have queues.
  /// `job_description::ranks` fills it in.
  std::optional<process_id> starter = {};
  queue_host_options host = {};  ///< `owner` is taken from each rank
  queue_types_options types = {};
  /// Called on the caller's thread with the number of ranks that have been read, and the number of all. Empty: nothing
  /// is called.
  std::function<void(std::size_t read, std::size_t all)> progress = {};
  bool stacks = true;          ///< take each rank's stack to see what it does; otherwise `doing` is unknown
  unsigned ranks_at_once = 0;  ///< the number of ranks that are read at a time; 0: the number of processors
};

/// How ranks are released that wait in MPI_Init at a gate: at MPIR_debug_gate (MPIR 1.1, 9.8; chapter 8, step 18), or
/// for MPI2DD_FLAG_GATE.
struct gate_options {
  rank_selection ranks = {};                    ///< among those of the group
  interface_kind interface = interface_kind{};  ///< the interface that the job uses
  /// A rank without a gate has perhaps not loaded its program yet: it is examined again for this long.
  std::chrono::milliseconds limit{3000};
};

/// A search for debug files without downloads: ranks are stopped, or a person waits, while names are looked up.
[[nodiscard]] inline debug_file_search without_downloads() {
  debug_file_search search;
  search.debuginfod = false;
  return search;
}

/// The options of a group of ranks. Agents receive all options that concern them. An option that agents cannot follow
/// makes each rank of their nodes fail (unsupported): a queue library inside this program (`queues.host.isolation`), a
/// download of debug files (`debug_files.debuginfod`), another limit on how long ranks stay held
/// (`tracing.hold_limit`). Paths are paths of each node.
struct rank_options {
  rank_filter select = {};  ///< the ranks of the group
  /// A limit for the whole life of the group. Its making and each of its calls end by then, and return what they have.
  time_limit until = {};
  /// For names in stacks and symbols of queue libraries.
  debug_file_search debug_files = without_downloads();
  /// For the ranks of this node. Keep `tracing.hold_limit` at its default if agents hold ranks.
  tracer_options tracing = {};
  /// For `rank_group::stacks()` without options of its own.
  stack_options stacks = {};
  /// For `rank_group::queues()` and `rank_group::waits()` without options of their own.
  rank_queue_options queues = {};
  /// How agents are started for the ranks of other nodes. Empty: the group has only ranks of this node.
  std::optional<agents_options> agents = agents_options{};
};

}  // namespace mpiacq
