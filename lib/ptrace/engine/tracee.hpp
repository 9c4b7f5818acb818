// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state of a traced process and of its threads, as plain structures.
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
  listening,  ///< in a group stop (PTRACE_LISTEN): stopped, but it accepts no ptrace request until it is interrupted
};

/// A reported hit that the thread left for a signal's handler. When the handler returns to it with the same stack, it
/// is the same call of the function, not another one.
struct interrupted_call {
  target_address address;
  target_address stack;
};

/// A signal that was passed on to a thread.
struct delivered_signal {
  int signal = 0;
  int code = 0;            ///< si_code
  process_id sender;       ///< -1: the kernel
  target_address fault;    ///< si_addr, if the signal has one
  std::uint64_t turn = 0;  ///< later signals of the process have larger numbers
};

/// What the exit stop of a thread has shown.
struct thread_end {
  exit_status status;  ///< the thread's; in the end of a process, the process's
  arch::exit_call by = arch::exit_call::none;
};

/// The end of a process whose `process_ending` is wanted, from the first exit stop that can belong to it.
struct process_end {
  pid_t first = 0;                     ///< the first thread that came to its exit stop
  bool reported = false;               ///< process_ending has been reported
  bool by_last_thread = false;         ///< every other thread had ended alone before
  deadline look_at = no_deadline;      ///< when to look whether the missing threads are being killed
  std::map<pid_t, int> lives_on = {};  ///< how many looks in a row showed that a missing thread is not being killed
};

struct traced_thread {
  pid_t id = 0;
  thread_state state = thread_state::running;
  bool registers_due = false;                 ///< its breakpoint registers must be set at its next stop
  bool in_vfork = false;                      ///< a child of its vfork shares the process's memory
  bool stepping = false;                      ///< makes one step off a breakpoint
  bool zombie = false;                        ///< the leader, which has ended before other threads
  bool late = false;                          ///< did not stop in time; no request waits for it any more
  int signal = 0;                             ///< delivered when the thread continues
  int group_stop = 0;                         ///< the stop signal, while it takes part in a group stop
  std::optional<target_address> standing_on;  ///< the breakpoint that it has hit, and not left yet
  interrupted_call leaving;                   ///< stepping: the call that it leaves
  std::optional<interrupted_call> left_by_signal;
  std::optional<delivered_signal> last_signal;  ///< kept only if process_ending is wanted
  std::optional<thread_end> end;                ///< it has been in its exit stop; it runs no instruction any more

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
  bool follow_children = false;  ///< its children are traced, too
  bool sees_forks = false;       ///< PTRACE_O_TRACEFORK and TRACEVFORK are set
  bool shares_memory = false;    ///< with the process that made it, until it execs
  bool reports_end = false;      ///< process_ending is wanted: PTRACE_O_TRACEEXIT is set
  bool killed = false;           ///< by tracer::kill: process_ending is not reported

  std::map<target_address, std::vector<std::byte>> last_writes;  ///< the writes of restore_on_exit

  // The events to report when every thread is stopped.
  bool at_entry = false;
  bool interrupt_due = false;
  std::vector<hit> hits;  ///< the first one in front
  std::optional<detach_request> detaching;
  std::optional<attach_request> attaching;
  std::optional<process_end> ending;

  int group_stop = 0;              ///< the signal of the group stop that was reported
  clock::time_point held_since;    ///< phase held: when it was entered
  deadline give_up = no_deadline;  ///< of the stop or step under way
  deadline look_at_leader = no_deadline;
  std::unique_ptr<pending_launch> launch;
  bool only_for_end = false;          ///< traced only to report its end (guard.hpp)
  std::uint64_t start_time = 0;       ///< field 22 of /proc/PID/stat; set with the first note to the guard
  std::vector<std::byte> told_guard;  ///< the last note about it; empty: none, or the last one was forgotten_process

  /// Whether the tracer has released the process. It is still known because a child's end will be reported, or because
  /// some threads had not stopped: a leader that ended before the others, a thread inside the kernel, a dying thread.
  [[nodiscard]] bool is_let_go() const { return now == phase::released || now == phase::leaving; }
  /// Whether something other than a step must be done before the process runs on.
  [[nodiscard]] bool has_something_due() const {
    return detaching.has_value() || at_entry || interrupt_due || !hits.empty();
  }
  /// Whether every thread has stopped.
  [[nodiscard]] bool is_stopped() const;
  /// Whether the tracer waits for a stop of this thread. In the end of the process only an exit stop counts: SIGKILL
  /// takes the thread out of any other stop.
  [[nodiscard]] bool awaits(const traced_thread& thread) const {
    if (thread.late || thread.zombie) return false;
    return ending ? !thread.end : !thread.is_stopped();
  }
  /// Whether no thread that the tracer still waits for is missing.
  [[nodiscard]] bool is_stopped_but_for_late_threads() const;
  /// Whether the thread must step off a breakpoint before it can run.
  [[nodiscard]] bool must_step(const traced_thread& thread) const {
    return thread.standing_on && breakpoints.needs_step_from(*thread.standing_on);
  }
  /// Sets phase held. All threads are stopped, and an event is about to be reported.
  void hold(clock::time_point when) {
    now = phase::held;
    held_since = when;
  }
};

}  // namespace mpiacq::tracing
