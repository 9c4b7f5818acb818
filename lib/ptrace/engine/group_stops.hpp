// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "engine/event_queue.hpp"
#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// Group stops (SIGSTOP and its like, ptrace(2)): each thread reports its part, and the tool receives one event for
/// each stop.
class group_stops {
 public:
  explicit group_stops(event_queue& events) : events_(events) {}

  void on_group_stop(traced_process& process, traced_thread& thread, int signal) {
    thread.group_stop = signal;
    if (std::exchange(process.group_stop, signal) != 0 || process.now == phase::leaving) return;
    events_.report(process.id, group_stopped{signal});
  }

  /// The thread has stopped, and no group stop is in effect. This means the end of a group stop only for a thread that
  /// took part in one: another thread can have reported this before the group stop began.
  void on_no_group_stop(traced_process& process, traced_thread& thread) {
    if (std::exchange(thread.group_stop, 0) == 0) return;
    if (std::exchange(process.group_stop, 0) == 0 || process.now == phase::leaving) return;
    events_.report(process.id, group_continued{});
  }

 private:
  event_queue& events_;
};

}  // namespace mpiacq::tracing
