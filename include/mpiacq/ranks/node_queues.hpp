// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/queues/queue_host.hpp"
#include "mpiacq/queues/queue_types.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq {

/// How the message queues of ranks are read.
struct rank_queue_options {
  rank_selection ranks;  ///< of those of the node
  std::string library;   ///< the queue library, in place of what each rank names; empty: what it names
  /// Why no queue library is to be loaded (MPIR 1.1, 9.14: the starter defines MPIR_ignore_queues): what each rank's
  /// report then says (unsupported). The ranks' stacks are looked at all the same. Empty: libraries are loaded.
  std::string no_library = {};
  /// MPI2DD: who names a library for ranks that name none, and says whether there are queues to look at.
  std::optional<process_id> starter = {};
  queue_host_options host;  ///< `owner` is taken from each rank
  queue_types_options types;
  /// Told on the caller's thread how many ranks have been read, of how many. Empty: nobody asks.
  std::function<void(std::size_t read, std::size_t all)> progress;
  bool stacks = true;          ///< also what each rank is doing: else it is `unknown`
  unsigned ranks_at_once = 0;  ///< how many ranks are read at a time; 0: as many as there are processors
};

/// The message queues of a node's ranks at one moment: `find_waits` makes sense of them.
struct node_queues {
  std::vector<rank_queues> ranks;    ///< one for each that was asked for, in order of rank
  std::vector<rank_activity> doing;  ///< of the same ranks
  std::vector<std::optional<std::string>>
      pml;  ///< of the same ranks: what `pml_in_use` says; empty where it says nothing
  /// From the first thing that was done to a rank until the last was let go.
  clock::duration held_for{};
  /// `host.stop` could be read before all ranks had been: the rest were let go at once, and have timed_out.
  bool stopped = false;
  std::vector<std::string> notes;  ///< where types came from, since the last time
  std::vector<error> problems;     ///< what was wrong with files of names, since the last time
};

/// Whether nothing is missing in what is known of a rank: there is a report, without problems, and the library got all
/// the types that it asked for.
[[nodiscard]] bool is_whole(const rank_queues& rank);

}  // namespace mpiacq
