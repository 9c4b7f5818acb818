// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is known of a traced process and of its threads: plain structures.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "engine/breakpoint_set.hpp"
#include "engine/requests.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

enum class thread_state : std::uint8_t {
  running,    ///< or about to report a stop or its end
  stopped,    ///< in a ptrace-stop that the tracer has waited for
  listening,  ///< in a group stop (PTRACE_LISTEN): stopped, but not to be commanded until it is interrupted
};

/// A hit that was reported, and that the thread then left for a signal's handler. When the handler returns to it with
/// the same stack, it is the same call of the function, not another one.
struct interrupted_call {
  target_address address;
  target_address stack;
};

struct traced_thread {
  pid_t id = 0;
  thread_state state = thread_state::running;
  bool registers_due = false;                 ///< its breakpoint registers are to be set at its next stop
  bool in_vfork = false;                      ///< a child of its vfork shares the process's memory
  bool stepping = false;                      ///< makes one step off a breakpoint
  bool zombie = false;                        ///< the leader, which has ended before other threads
  bool late = false;                          ///< did not stop in time; nothing waits for it any more
  int signal = 0;                             ///< to be delivered when it goes on
  int group_stop = 0;                         ///< the stop signal, while it takes part in a group stop
  std::optional<target_address> standing_on;  ///< the breakpoint that it has hit, and not left yet
  interrupted_call leaving;                   ///< stepping: what it leaves
  std::optional<interrupted_call> left_by_signal;

  [[nodiscard]] bool is_stopped() const { return state == thread_state::stopped; }
};

using hit = std::variant<breakpoint_hit, watch_hit>;

/// See the table in engine.hpp.
enum class phase : std::uint8_t { launching, running, stopping, held, stepping, leaving, released };

struct traced_process {
  pid_t id = 0;
  pid_t parent = 0;  ///< of a followed child: the process that made it
  bool launched = false;
  bool ends_with_tool = false;
  phase now = phase::running;
  std::map<pid_t, traced_thread> threads;
  breakpoint_set breakpoints;
  bool follow_children = false;  ///< the children that it makes are to be traced
  bool sees_forks = false;       ///< PTRACE_O_TRACEFORK and TRACEVFORK are set
  bool shares_memory = false;    ///< with the process that made it, until it execs

  std::map<target_address, std::vector<std::byte>> last_writes;  ///< the writes of restore_on_exit

  // What is to be reported once every thread is stopped.
  bool at_entry = false;
  bool interrupt_due = false;
  std::vector<hit> hits;  ///< the first one in front
  std::optional<detach_request> detaching;
  std::optional<attach_request> attaching;

  int group_stop = 0;              ///< the signal of the group stop that was reported
  clock::time_point held_since;    ///< phase held: when it was entered
  deadline give_up = no_deadline;  ///< of the stop or step under way
  deadline look_at_leader = no_deadline;
  std::unique_ptr<pending_launch> launch;
  bool only_for_end = false;          ///< traced to learn of its end, and for nothing else (guard.hpp)
  std::uint64_t start_time = 0;       ///< field 22 of /proc/PID/stat, from the first note to the guard on
  std::vector<std::byte> told_guard;  ///< the last note about it; empty: none, or that nothing is left

  /// The tracer has let the process go. It is still known for the end of a child, or for threads that had not stopped:
  /// a leader that has ended before the others, a thread that the kernel keeps, one that is dying.
  [[nodiscard]] bool is_let_go() const { return now == phase::released || now == phase::leaving; }
  /// Something other than a step has to be seen to before the process runs on.
  [[nodiscard]] bool has_something_due() const {
    return detaching.has_value() || at_entry || interrupt_due || !hits.empty();
  }
  /// Every thread has stopped.
  [[nodiscard]] bool is_stopped() const;
  /// Every thread that the tracer still waits for has stopped.
  [[nodiscard]] bool is_stopped_but_for_late_threads() const;
  /// The thread has to step off a breakpoint before it can run.
  [[nodiscard]] bool must_step(const traced_thread& thread) const {
    return thread.standing_on && breakpoints.needs_step_from(*thread.standing_on);
  }
  /// All threads are stopped, and something is about to be reported.
  void hold(clock::time_point when) {
    now = phase::held;
    held_since = when;
  }
};

}  // namespace mpiacq::tracing
