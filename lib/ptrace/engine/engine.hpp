// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/attaching.hpp"
#include "engine/breakpoints.hpp"
#include "engine/children.hpp"
#include "engine/detaching.hpp"
#include "engine/endings.hpp"
#include "engine/event_queue.hpp"
#include "engine/group_stops.hpp"
#include "engine/guard_link.hpp"
#include "engine/hold_limit.hpp"
#include "engine/launching.hpp"
#include "engine/resuming.hpp"
#include "engine/stop_collector.hpp"
#include "engine/taking_over.hpp"
#include "engine/tracee_table.hpp"
#include "engine/traps.hpp"
#include "kernel/wait_status.hpp"

namespace mpiacq::tracing {

struct guarded_process;

/// The state machine of all traced processes. The engine receives commands and wait statuses, makes ptrace calls
/// through its parts, and emits events. It lives in the tracer server, and never waits.
///
/// A process is in one of these phases:
///
///   phase      its threads                        leaves it when
///   ---------  ---------------------------------  -------------------------------------------------------------------
///   launching  one, on its way to exec            exec works: running; exec fails: gone, and the launch is answered
///   running    run, or listen in a group stop     an event or a command needs a stop: stopping
///   stopping   are being collected, or seized in  every one is stopped, or the limit has passed: see below
///              the first place (attach), or come
///              to their exit stops (endings.hpp)
///   held       all stopped, an event is reported  resume: another hit is reported (held), or stepping, or running
///   stepping   one makes a step off a breakpoint, every one that must has stepped: running, or the pending event or
///              the others are held                command
///   leaving    detached, but those that did not   the last of them stopped and was released: released
///              stop in time
///   released   none are traced; a launched one    it ends
///              is still a child
///
/// When all are stopped, the first of these that applies is done: answer the attach; detach as requested; report
/// entry_reached; report the next hit; report process_ending; report interrupted; continue (the stop was for a step off
/// a breakpoint).
///
/// Two rules hold in every phase. A signal is passed on with the resume after the stop that announced it, and stays
/// with the thread until then. A thread in a group stop listens while its process runs, and is an ordinary stopped
/// thread while its process is stopped.
class engine final : private status_sink {
 public:
  /// `guard`: the socket for notes to the guard; -1: no guard.
  engine(kernel_access kernel, event_queue& events, const tracer_options& options, int guard = -1);

  // Commands (tracer.hpp).
  void launch(launch_order order, reply<process_id> answer) { launching_.launch(std::move(order), std::move(answer)); }
  void attach(process_id id, attach_options options, reply<void> answer) {
    attaching_.attach(id, options, std::move(answer));
  }
  void attach_all(const std::vector<attach_target>& targets, attach_options options,
                  reply<std::vector<result<void>>> answer) {
    attaching_.attach_all(targets, options, std::move(answer));
  }
  [[nodiscard]] result<void> resume(process_id id);
  [[nodiscard]] result<void> interrupt(process_id id);
  void detach(process_id id, leave how, reply<void> answer);
  void detach_all(const std::vector<process_id>& ids, leave how, reply<std::vector<result<void>>> answer);
  [[nodiscard]] result<void> kill(process_id id);
  [[nodiscard]] result<breakpoint_kind> insert_breakpoint(process_id id, target_address address, breakpoint_kind kind);
  [[nodiscard]] result<void> remove_breakpoint(process_id id, target_address address);
  [[nodiscard]] result<void> insert_watchpoint(process_id id, target_address address, std::uint64_t length);
  [[nodiscard]] result<void> remove_watchpoint(process_id id, target_address address);
  [[nodiscard]] result<void> restore_on_exit(process_id id, target_address address, std::vector<std::byte> bytes);
  [[nodiscard]] result<void> follow_children(process_id id, bool follow);
  [[nodiscard]] result<std::vector<thread_id>> threads(process_id id);
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(const std::vector<process_id>& ids,
                                                                             which_threads which, register_sets sets);
  /// The tool has gone or is done: detaches from everything, and kills the processes that must end with the tool.
  void leave_all();
  /// The tool is alive: restarts the time of tracer_options::hold_limit.
  void heard_from_tool() { tool_.on_call(clock::now()); }

  /// For the guard's engine: takes over a process of a tracer server that was killed.
  void take_over(const guarded_process& left, const error& why) { taking_over_.take_over(left, why); }
  /// Whether some processes that are taken over have not stopped yet. `leave_all` would leave their breakpoints in
  /// them.
  [[nodiscard]] bool is_taking_over() const { return taking_over_.is_under_way(); }

  /// Handles the result of a wait.
  void on_status(pid_t task, const wait_status& status) override;
  void on_time(clock::time_point now);
  /// Collects the stops of threads that were interrupted (stop_collector).
  void take_expected() { stops_.take_expected(); }

  [[nodiscard]] deadline next_deadline() const;
  /// Whether a process is attached and not yet detached as far as possible.
  [[nodiscard]] bool holds_any() const;
  /// Whether threads of detached processes remain that did not stop in time. They are released when they stop.
  [[nodiscard]] bool awaits_late_threads() const;
  /// Whether no further event can occur.
  [[nodiscard]] bool is_idle() const { return tracees_.empty() && children_.empty() && !attaching_.has_retries(); }

 private:
  // engine_commands.cpp
  [[nodiscard]] result<traced_process*> find(process_id id);
  [[nodiscard]] result<traced_process*> find_held(process_id id, const char* to);
  [[nodiscard]] result<std::vector<thread_registers>> registers_of(process_id id, which_threads which,
                                                                   register_sets sets);

  // stop_events.cpp: one stop, or the end, of one thread
  void on_unknown(pid_t task, const wait_status& status);
  void on_stop(traced_process& process, traced_thread& thread, const wait_status& status);
  void on_step_stop(traced_process& process, traced_thread& thread, const wait_status& status);
  void on_exit_stop(traced_process& process, traced_thread& thread);
  void on_exec(traced_process& process);
  void on_birth(traced_process& process, traced_thread& thread, birth_stop::how by);
  void on_vfork_done(traced_process& process, traced_thread& thread);
  void on_end(traced_process& process, pid_t task, const exit_status& status);
  void on_process_end(traced_process& process, const exit_status& status);
  void settle(traced_process& process, traced_thread& thread);
  void end_step(traced_process& process, traced_thread& thread);

  // engine.cpp: a process as a whole
  void begin_stop(traced_process& process);
  void complete_stop(traced_process& process);
  /// Reports process_ending of a process that SIGKILL has ended while it was held, as soon as no thread is missing.
  void tell_end_of_held(traced_process& process);
  void step_on(traced_process& process);
  void begin_detach(traced_process& process, detach_request request);
  void on_stop_limit(traced_process& process);
  void look_at_leader(traced_process& process);
  void look_at_end(traced_process& process);
  [[nodiscard]] traced_process* after_news_of(traced_process& process);
  void on_hold_limit();

  // Each part may use the parts above it.
  kernel_access kernel_;
  event_queue& events_;
  tracee_table tracees_;
  hold_limit tool_;
  guard_link guard_;
  breakpoints breakpoints_;
  children children_;
  detaching detaching_;
  resuming resuming_;
  traps traps_;
  group_stops group_stops_;
  endings endings_;
  stop_collector stops_;
  attaching attaching_;
  launching launching_;
  taking_over taking_over_;
};

}  // namespace mpiacq::tracing
