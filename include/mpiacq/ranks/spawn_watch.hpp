// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/ranks/node_ranks.hpp"

namespace mpiacq {

/// Processes that a rank has made, as its queue library names them.
struct rank_spawn {
  std::uint32_t rank = 0;
  std::vector<new_process> processes;  ///< that have not been told before; may be empty where there are `problems`
  std::vector<error> problems;
};

/// Follows ranks for the processes that they make (Message Queue Dumping's MPI-2 extension): where a rank's queue
/// library names a function that is called when there are new ones, that function gets a breakpoint, and when the rank
/// comes to it the library is asked. Between these moments the ranks run, and are traced; a rank whose library names no
/// such function is left alone.
///
/// Thread: one at a time.
class spawn_watch {
 public:
  /// Takes `ranks` over: what it holds is let run. `seen` is what they have said last (`node_ranks::queues`); new
  /// processes in it are not told again, and what has come since is told first. Ranks that cannot be held any more are
  /// left out. Empty where there is nobody to watch.
  [[nodiscard]] static std::unique_ptr<spawn_watch> create(std::unique_ptr<node_ranks> ranks, const node_queues& seen,
                                                           rank_queue_options how);
  /// Lets all go, running.
  ~spawn_watch();
  spawn_watch(const spawn_watch&) = delete;
  spawn_watch& operator=(const spawn_watch&) = delete;

  /// How many ranks are followed.
  [[nodiscard]] std::size_t watched() const;
  /// The next rank that has made processes; it runs on by the time this returns. Empty where `until` passed first.
  [[nodiscard]] std::optional<rank_spawn> next(deadline until);
  /// Readable where `next` would have something to do.
  [[nodiscard]] int event_descriptor() const;

 private:
  struct state;
  explicit spawn_watch(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
