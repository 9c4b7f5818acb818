// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How ranks end, and which ends are those of a failed job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/mpi_phase.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// The end of one rank that did not end as a rank should. All values are of the moment just before the end, at which
/// the rank is held.
struct rank_end {
  entry_index entry;
  process_id pid;
  exit_status status;  ///< how it ends
  /// The thread that received the signal, or that ended the process.
  thread_id thread;
  int signal_code = 0;      ///< si_code of the signal (sigaction(2)); 0: unknown
  process_id sender;        ///< as `process_ending::sender`
  std::string sender_name;  ///< the command name of the sender, which another user may have chosen; may be empty
  target_address fault;     ///< si_addr, for SIGSEGV, SIGBUS, SIGILL and SIGFPE that the kernel has sent; 0 otherwise
  bool out_of_memory =
      false;  ///< SIGKILL, and the kernel has killed a process of the node for lack of memory meanwhile
  mpi_phase phase = mpi_phase::unknown;       ///< `unknown` also for a signal of its own
  std::optional<thread_registers> registers;  ///< of `thread`; empty if they could not be read

  /// Whether the kernel or the process itself has caused the signal: a fault, abort(3), or raise(3).
  [[nodiscard]] bool is_own_signal() const;
};

/// Whether a rank that ends in this way has failed: by a signal of its own, by a signal of another process before
/// MPI_Finalize has returned, by an exit status that is not 0 before MPI_Finalize has returned, or by an exit between
/// MPI_Init and MPI_Finalize. A launcher that ends a job because of an exit status may end ranks that are done.
[[nodiscard]] bool is_failure(const rank_end& end);

/// The ends of ranks since the last question (`rank_group::ends`).
struct group_ends {
  /// Ranks that have failed. They are held at their ends until `rank_group::release`. The ranks of one node are in the
  /// order in which they ended.
  std::vector<rank_end> failed;
  rank_set ended;                      ///< ranks that ended as they should; they were not held
  rank_set followed;                   ///< ranks that run, or are held, and whose end will be reported
  std::vector<refused_ranks> refused;  ///< ranks whose end will not be reported, and why
  /// The stacks of the threads that ended the failed ranks.
  group_stacks stacks;
};

}  // namespace mpiacq
