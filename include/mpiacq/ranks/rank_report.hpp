// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// What one look at the message queues of ranks has shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/queues/mpi_call.hpp"

namespace mpiacq {

/// All that one look has shown of one rank.
struct rank_report {
  entry_index entry;  ///< its entry in the process table
  process_id pid;
  result<queue_report> report;          ///< its message queues, or why they are not known
  rank_activity doing = {};             ///< the call that the rank is in
  std::optional<std::string> pml = {};  ///< Open MPI: the point-to-point layer in use (`pml_in_use`); empty: not known
  /// A signal (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU) had stopped the rank before the look. It does nothing until SIGCONT:
  /// a message that its call waits for may have arrived long ago.
  bool stopped_by_signal = false;
};

/// Whether a report is complete: it has no problems, and the library got all the types that it asked for.
[[nodiscard]] bool is_whole(const rank_report& rank);
/// Whether the report lists a queue. False where it was not read, and where nothing in it is believed.
[[nodiscard]] bool lists_queues(const rank_report& rank);
/// Whether only the arguments of its call can show what the rank waits for: no queue is known, or the rank is in
/// MPI_Probe, which no queue library lists.
[[nodiscard]] bool is_told_by_call(const rank_report& rank);

/// The message queues of ranks at one moment. `find_waits` evaluates them.
struct group_queues {
  std::vector<rank_report> ranks;  ///< one for each rank that was asked for, in order of entries
  /// From the first stop of a rank until the last rank was released; with several nodes, the longest of them.
  clock::duration held_for{};
  /// The caller cancelled before all ranks were read. The other ranks were released at once, and their reports are
  /// timed_out.
  bool stopped = false;
  std::vector<std::string> notes;  ///< where types came from; each note occurs once
  std::vector<error> problems;     ///< with files of debug information; each problem occurs once
};

}  // namespace mpiacq
