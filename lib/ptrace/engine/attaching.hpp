// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <unistd.h>

#include "engine/attach_retries.hpp"
#include "engine/detaching.hpp"
#include "engine/stop_collector.hpp"
#include "kernel/process_folders.hpp"

namespace mpiacq::tracing {

class thread_seizer;

/// Attaches to all threads of processes that run already.
///
/// Each thread is seized and interrupted. The kernel attaches new threads of a seized thread. Threads that another
/// thread makes are found in /proc, by looks that go on until one finds no new thread. When all known threads have
/// stopped, there is a last look. A stopped thread neither makes threads nor ends, so that the last look misses
/// nothing; if it finds no new thread, no thread runs.
class attaching {
 public:
  attaching(kernel_access kernel, tracee_table& tracees, stop_collector& stops, breakpoints& armed, children& born,
            detaching& leaving, hold_limit& tool, const tracer_options& options)
      : kernel_(kernel),
        tracees_(tracees),
        stops_(stops),
        breakpoints_(armed),
        children_(born),
        detaching_(leaving),
        tool_(tool),
        options_(options) {}

  void attach(process_id id, attach_options options, reply<void> answer);
  void attach_all(const std::vector<attach_target>& targets, attach_options options,
                  reply<std::vector<result<void>>> answer);

  /// Starts an attach. No thread of the process is traced yet, apart from late threads of an earlier attach. The caller
  /// sets the answer and calls go_on.
  [[nodiscard]] result<traced_process*> begin(pid_t process, attach_options options);
  /// Continues the attach. Every known thread of the process has stopped, or none is known yet. This can erase the
  /// process.
  void go_on(traced_process& process);
  /// Phase stopping: a leader that is no longer traced will not report a stop. Returns true if the leader is such a
  /// one; the attach has then been continued.
  [[nodiscard]] bool look_for_new_leader(traced_process& process);
  /// Answers the attach after the process has ended.
  static void end(traced_process& process);

  void retry_due(clock::time_point now);
  void give_up_retries();
  [[nodiscard]] deadline next_retry() const { return retries_.next(); }
  [[nodiscard]] bool has_retries() const { return !retries_.empty(); }
  /// Drops the open folder of a process that has ended.
  void forget(pid_t process) { folders_.drop(process); }

 private:
  // attaching.cpp
  void finish(traced_process& process);
  void undo(traced_process& process);
  void catch_all_threads(traced_process& process);
  [[nodiscard]] bool is_another(const traced_process& process);

  // attaching_threads.cpp
  enum class caught : std::uint8_t { yes, gone, dead, not_the_programs };
  [[nodiscard]] bool has_lost_leader(const traced_process& process) const;
  void drop_ended_threads(traced_process& process, const std::vector<pid_t>& listed);
  [[nodiscard]] result<bool> catch_new_threads(traced_process& process);
  [[nodiscard]] result<caught> catch_thread(traced_process& process, pid_t task, thread_seizer& seizer);

  // attaching_all.cpp
  [[nodiscard]] result<traced_process*> begin(const attach_target& target, attach_options options);
  [[nodiscard]] bool seize_quickly(traced_process& process, thread_seizer& seizer);
  void stop_all(std::span<traced_process* const> all);
  void answer_counted(bool some_task_ended);
  [[nodiscard]] bool has_all_by_count(const traced_process& process);
  [[nodiscard]] bool has_its_leader(const traced_process& process) const;
  [[nodiscard]] bool some_thread_runs() const;

  kernel_access kernel_;
  tracee_table& tracees_;
  stop_collector& stops_;
  breakpoints& breakpoints_;
  children& children_;
  detaching& detaching_;
  hold_limit& tool_;
  const tracer_options& options_;
  const pid_t own_id_ = ::getpid();
  process_folders folders_;
  attach_retries retries_;
  std::vector<pid_t> counted_;  ///< attach_all: held processes whose leaders must still be checked
};

}  // namespace mpiacq::tracing
