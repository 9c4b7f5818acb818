// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The guard of the tracer server. Breakpoints stay in a job when its tracer is killed, and the next thread that meets
// one dies. The process that the tool starts therefore forks. The child traces; the parent is the guard, and waits only
// for the end of the child. If the child is killed, the guard attaches to each process that had breakpoints, removes
// them, and releases the process.
//
// One gap remains: the kernel resumes all tracees at the moment when their tracer dies. A breakpoint that a thread
// meets before the guard holds that thread kills its process. No second tracer can hold a traced thread, so that the
// gap cannot be closed.
#pragma once

#include <map>

#include "engine/engine.hpp"
#include "engine/event_queue.hpp"
#include "kernel/waiter.hpp"
#include "server/guard_notes.hpp"

namespace mpiacq::tracing {

class guard {
 public:
  struct ends {
    unique_fd notes;    ///< SOCK_SEQPACKET, from the tracer server
    unique_fd events;   ///< SOCK_SEQPACKET, to the tool
    unique_fd process;  ///< a pidfd of the tool; may be missing
  };
  guard(pid_t tracing, ends all) : tracing_(tracing), ends_(std::move(all)) {}
  /// Returns when the tracer server has ended and, if it was killed, when all of its processes are released. Returns
  /// the exit status for this process: the tracer server's, or 128 + the signal that ended it.
  int run();

 private:
  void wait_for_end();
  void take_notes();
  void clean_up(waiter& statuses, int signal);

  pid_t tracing_;
  ends ends_;
  std::map<std::int32_t, guarded_process> guarded_;
};

}  // namespace mpiacq::tracing
