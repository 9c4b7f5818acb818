// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

class node_ranks;  // private to the library
struct group_queues;
struct rank_queue_options;

/// Processes that a rank has spawned, as its queue library names them.
struct rank_spawn {
  entry_index entry;                   ///< of the rank that has spawned them
  std::vector<new_process> processes;  ///< the ones that were not reported before; may be empty if there are `problems`
  std::vector<error> problems;
};

/// Follows ranks and reports the processes that they spawn (Message Queue Dumping's MPI-2 extension). The queue library
/// of a rank may name a function that the MPI calls when there are new processes. The watch sets a breakpoint at this
/// function, and asks the library when the rank reaches it. Between these moments the ranks run under a tracer. A rank
/// whose library names no such function is left alone. The watch first reports processes that were spawned after the
/// last look, and none that the last look has shown. It leaves out ranks that cannot be held any more.
/// `rank_group::watch_spawns` makes a watch.
///
/// Thread: one at a time.
class spawn_watch {
 public:
  /// Releases all ranks, which run on.
  ~spawn_watch();
  spawn_watch(const spawn_watch&) = delete;
  spawn_watch& operator=(const spawn_watch&) = delete;

  /// The number of ranks that the watch follows.
  [[nodiscard]] std::size_t watched() const;
  /// The next rank that has spawned processes. The rank runs when this returns. Empty if `until` passes first.
  [[nodiscard]] std::optional<rank_spawn> next(deadline until);
  /// A descriptor that is readable when `next` has something to do.
  [[nodiscard]] int event_descriptor() const;

 private:
  friend class rank_group;
  [[nodiscard]] static std::unique_ptr<spawn_watch> create(std::shared_ptr<node_ranks> ranks, const group_queues& seen,
                                                           rank_queue_options how);
  struct state;
  explicit spawn_watch(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
