// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#include "engine/event_queue.hpp"
#include "engine/process_folders.hpp"
#include "engine/ptrace_call.hpp"
#include "engine/tracee.hpp"
#include "engine/wait_status.hpp"
#include "engine/waiter.hpp"

namespace mpiacq::tracing {

class thread_seizer;
struct guarded_process;

/// What happens to traced processes: told of commands and of wait statuses, it makes the ptrace calls and the events.
/// It lives in the tracing process, and never waits itself.
///
/// A process is in one of these phases:
///
///   phase      its threads                        leaves it when
///   ---------  ---------------------------------  -------------------------------------------------------------------
///   launching  one, on its way to exec            exec works: running; exec fails: gone, and so says launch
///   running    run, or listen in a group stop     something is to be reported, or asked for: stopping
///   stopping   are being collected, or taken hold every one is stopped, or the limit has passed: see below
///              of in the first place (attach)
///   held       all stopped, an event is reported  resume: another hit is reported (held), or stepping, or running
///   stepping   one makes a step off a breakpoint, every one that must has made it: running, or what came up meanwhile
///              the others are held
///   leaving    detached, but those that did not   the last of them stopped and was let go: released
///              stop in time
///   released   none are ours; a launched one is   it ends
///              still our child
///
/// When all are stopped, the first of these that applies is done: answer the attach; detach as asked; report
/// entry_reached; report the next hit; report interrupted; go on (the stop was for a step off a breakpoint).
///
/// Breakpoints are armed (in the registers, in the code) only while a process runs: if we die while it is held, none is
/// left in it.
///
/// Three things hold in every phase. A signal is passed on with the resume after the stop that announced it, and stays
/// with the thread until then. A thread in a group stop listens while its process runs, and is a stopped thread like
/// any other while its process is stopped. A ptrace call that finds its thread gone is no failure: somebody killed it,
/// and the wait tells how.
class engine {
 public:
  /// `guard`: the socket for notes to the guard; -1: there is none.
  engine(event_queue& events, const tracer_options& options, int guard = -1)
      : events_(events), options_(options), guard_(guard) {}

  // Commands (tracer.hpp).
  void launch(launch_order order, reply<process_id> answer);
  void attach(process_id id, attach_options options, reply<void> answer);
  void attach_all(const std::vector<attach_target>& targets, attach_options options,
                  reply<std::vector<result<void>>> answer);
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
                                                                             which_threads which);
  /// The tool has gone, or wants no more of it: detaches from everything, and kills what was to end with the tool.
  void leave_all();
  /// The tool is alive: the time of tracer_options::hold_limit begins again.
  void heard_from_tool();

  /// The tracing process, which had this one, has been killed. For the guard's engine.
  void take_over(const guarded_process& left, const error& why);
  /// Some of these have not stopped yet. Until then `leave_all` would leave their breakpoints in them.
  [[nodiscard]] bool is_taking_over() const { return being_taken_over_ > 0; }

  // What the waiter saw.
  void on_status(pid_t task, const wait_status& status);
  void on_time(clock::time_point now);
  /// Takes in what those threads have to tell that were interrupted all at once. The kernel finds each at once by its
  /// number, but only by a search through all when it is asked who has news.
  void take_expected();

  [[nodiscard]] deadline next_deadline() const;
  /// Something is still attached that has not been detached as far as it lets itself be.
  [[nodiscard]] bool holds_any() const;
  /// Threads of detached processes are left that did not stop in time; they are let go as they come back.
  [[nodiscard]] bool awaits_late_threads() const;
  /// There is no process left of which anything could be told.
  [[nodiscard]] bool is_idle() const { return processes_.empty() && newborn_.empty() && delayed_attaches_.empty(); }

 private:
  // engine.cpp: finding, reporting, letting run
  [[nodiscard]] result<traced_process*> find(process_id id);
  [[nodiscard]] result<traced_process*> find_held(process_id id, const char* to);
  traced_thread& add_thread(traced_process& process, pid_t task);
  void forget(traced_process& process);
  void report(const traced_process& process, decltype(process_event::what) what);
  void report_problem(const traced_process& process, error what);
  void let_run(traced_process& process, traced_thread& thread);
  void run_all(traced_process& process);
  void arm_and_run(traced_process& process);
  [[nodiscard]] static bool must_step(const traced_process& process, const traced_thread& thread);

  // stop_events.cpp: one stop of one thread
  void on_stop(traced_process& process, traced_thread& thread, const wait_status& status);
  [[nodiscard]] bool reports_trap_first(const traced_process& process, traced_thread& thread);
  void on_signal(traced_process& process, traced_thread& thread, int signal);
  void on_trap(traced_process& process, traced_thread& thread);
  void on_hit(traced_process& process, traced_thread& thread, target_address at);
  enum class take : std::uint8_t { all, writes };
  void on_hardware_hits(traced_process& process, traced_thread& thread, take which);
  void on_group_stop(traced_process& process, traced_thread& thread, int signal);
  void on_group_stop_end(traced_process& process, traced_thread& thread);
  void on_exec(traced_process& process);
  void on_birth(traced_process& process, traced_thread& thread, birth_stop::how by);
  void on_vfork_done(traced_process& process, traced_thread& thread);
  void on_end(traced_process& process, pid_t task, const exit_status& status);
  void on_process_end(traced_process& process, const exit_status& status);
  void settle(traced_process& process, traced_thread& thread);

  // unannounced_tasks.cpp: tasks that nobody has told of yet
  void on_stranger(pid_t task, const wait_status& status);
  void announce_child(traced_process& parent, pid_t child, birth_stop::how by);
  void place_child(pid_t child);
  void clean_child(pid_t child, pid_t parent);

  // following.cpp: children that nobody has told of yet, and those that become processes of ours
  [[nodiscard]] bool follows_children(const traced_process& process) const;
  [[nodiscard]] const left_behind* who_may_have_made(const newborn_process& child) const;
  [[nodiscard]] bool waits_for_word(pid_t id, const newborn_process& child) const;
  void place_unannounced(pid_t id);
  void place_unannounced_children();
  void adopt(pid_t child, const newborn_process& newborn);
  void set_options(traced_process& process);
  [[nodiscard]] bool shares_memory_with_another(const traced_process& process) const;

  // stopping.cpp: all threads of a process
  void begin_stop(traced_process& process);
  void await_stop(traced_process& process);
  [[nodiscard]] static bool all_stopped(const traced_process& process);
  void complete_stop(traced_process& process);
  void give_up_stop(traced_process& process);
  void look_at_leader(traced_process& process);
  void begin_stepping(traced_process& process);
  void end_stepping(traced_process& process);
  void on_step_stop(traced_process& process, traced_thread& thread, const wait_status& status);

  // breakpoints.cpp
  using role = bool breakpoint::*;
  [[nodiscard]] result<breakpoint_kind> plant(traced_process& process, target_address address, breakpoint_kind kind,
                                              role for_whom);
  [[nodiscard]] result<void> plant_hardware(traced_process& process, const arch::hardware_trigger& trigger);
  [[nodiscard]] result<std::vector<std::byte>> plant_software(traced_process& process, target_address address);
  static void free_register(traced_process& process, const arch::hardware_trigger& trigger);
  [[nodiscard]] result<void> take_out(traced_process& process, role for_whom,
                                      std::optional<target_address> only = std::nullopt);
  void disarm(traced_process& process);
  void apply_hardware(traced_process& process, traced_thread& thread);
  [[nodiscard]] result<void> lift_software(traced_process& process);
  void put_back_software(traced_process& process);
  void leave_behind_of(traced_process& process);
  [[nodiscard]] result<void> take_out_all(traced_process& process);
  void take_out_software(traced_process& process);

  // attaching.cpp
  enum class caught : std::uint8_t { yes, gone, dead, not_the_programs };
  [[nodiscard]] result<traced_process*> begin_attach(pid_t number, attach_options options);
  void go_on_attaching(traced_process& process);
  [[nodiscard]] bool has_lost_leader(const traced_process& process) const;
  void drop_thread(traced_process& process, pid_t task);
  [[nodiscard]] bool look_for_new_leader(traced_process& process);
  [[nodiscard]] result<bool> catch_new_threads(traced_process& process);
  [[nodiscard]] result<caught> catch_thread(traced_process& process, pid_t task, thread_seizer& seizer);
  static void end_attach(traced_process& process);
  void finish_attach(traced_process& process);
  void undo_attach(traced_process& process);
  void attach_later(pid_t id, attach_request request);
  void begin_delayed_attaches(clock::time_point now);
  void give_up_delayed_attaches();

  // attaching_all.cpp
  [[nodiscard]] result<traced_process*> begin_attach_to(const attach_target& target, attach_options options);
  [[nodiscard]] bool seize_quickly(traced_process& process, thread_seizer& seizer);
  void interrupt_all(traced_process& process);
  enum class expected : std::uint8_t { told, silent, not_awaited };
  expected ask_expected(pid_t task);
  void take_stops_in_silence(std::span<traced_process* const> all);
  void end_silence();
  [[nodiscard]] bool anybody_runs() const;
  [[nodiscard]] bool has_all_by_count(const traced_process& process);
  [[nodiscard]] bool has_its_leader(const traced_process& process) const;
  [[nodiscard]] bool is_another(const traced_process& process);
  [[nodiscard]] result<std::vector<thread_registers>> registers_of(process_id id, which_threads which);

  // detaching.cpp
  void begin_detach(traced_process& process, detach_request request);
  static void end_detach(traced_process& process, result<void> outcome);
  void finish_detach(traced_process& process);
  std::vector<pid_t> detach_stopped_threads(traced_process& process);
  static void write_last(const traced_process& process);
  void detach_thread(traced_process& process, traced_thread& thread);
  void look_at_left_leader(traced_process& process);
  void leave_if_empty(traced_process& process);

  // hold_limit.cpp: processes that are stopped while the tool is silent
  static void become_held(traced_process& process);
  [[nodiscard]] deadline hold_end_of(const traced_process& process) const;
  void give_up_waiting_for_tool();
  [[nodiscard]] const error* lost(process_id id) const;

  // taking_over.cpp: the guard
  void tell_guard(traced_process& process);
  void clean(const guarded_process& left);

  // watching.cpp
  void on_write(traced_process& process, traced_thread& thread, target_address at);
  void apply_watches(traced_process& process, traced_thread& thread);
  [[nodiscard]] static bool is_of_interest(const traced_process& process, const hit& what);

  // launching.cpp
  void start_child(pending_launch launch);
  void on_launch_exec(traced_process& process);
  void on_launch_end(traced_process& process, const exit_status& status);
  void plan_entry_stop(traced_process& process);

  event_queue& events_;
  const tracer_options& options_;
  int guard_;
  std::size_t being_taken_over_ = 0;
  const pid_t own_id_ = ::getpid();
  ptrace_calls calls_;
  std::unordered_map<pid_t, traced_process> processes_;    ///< they stay where they are
  std::unordered_map<pid_t, traced_process*> process_of_;  ///< by thread
  std::map<pid_t, newborn_process> newborn_;
  std::vector<delayed_attach> delayed_attaches_;
  std::deque<left_behind> left_behind_;
  process_folders folders_;
  std::vector<pid_t> expected_;    ///< threads that were interrupted, those that have not reported yet
  bool stops_are_silent_ = false;  ///< attach_all has asked that only ends be signalled
  std::vector<pid_t> counted_;     ///< processes held by then, but for a last look whether a leader has ended
  bool leaving_all_ = false;
  clock::time_point heard_at_ = clock::now();  ///< when the tool called last, or was given an answer
  bool tool_is_silent_ = false;                ///< for longer than the limit: everything has been let go of
  std::map<process_id, error> lost_;           ///< let go of for that reason, and not attached to again
};

}  // namespace mpiacq::tracing
