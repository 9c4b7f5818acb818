// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/tracee_table.hpp"
#include "kernel/kernel_access.hpp"
#include "kernel/waiter.hpp"

namespace mpiacq::tracing {

/// Takes in what a wait has said of a task.
class status_sink {
 public:
  status_sink() = default;
  virtual ~status_sink() = default;
  status_sink(const status_sink&) = delete;
  status_sink& operator=(const status_sink&) = delete;
  virtual void on_status(pid_t task, const wait_status& status) = 0;
};

/// Stops all threads of processes, and collects their stops.
///
/// The kernel finds a task at once by its number, but searches through all of them when it is asked for any task that
/// has news. So the threads that were interrupted are asked for by number.
class stop_collector {
 public:
  stop_collector(kernel_access kernel, tracee_table& tracees, event_queue& events, const tracer_options& options,
                 status_sink& sink)
      : kernel_(kernel), tracees_(tracees), events_(events), options_(options), sink_(sink) {}

  /// Interrupts every thread of the process, which is in phase stopping then.
  void begin(traced_process& process);
  /// The threads of the process have been interrupted.
  void await(traced_process& process);
  /// The thread has been interrupted, and will report.
  void expect(pid_t task) { expected_.push_back(task); }
  /// Takes in the stops of the threads that were interrupted and have stopped.
  void take_expected();

  /// Interrupts many processes whose threads are all seized, and takes in their stops. Most threads have stopped by the
  /// time when the last one has been interrupted. Until all have been asked for once, the kernel is told not to signal
  /// stops; a signal means then that a task has ended.
  void stop_many(std::span<traced_process* const> all);
  [[nodiscard]] bool is_stopping_many() const { return is_stopping_many_; }
  /// stop_many is over, and stops are signalled again. True where a task has ended meanwhile.
  [[nodiscard]] bool end_stopping_many();

  /// The time for the stop is over: threads that have not stopped are late, which the tool is told.
  void give_up(traced_process& process);
  /// The process waits for its leader, which may have ended: a leader that ends before other threads is kept as a
  /// zombie without a report. True where the leader is one; otherwise the next look is due in a while.
  [[nodiscard]] bool leader_is_dead(traced_process& process);

 private:
  enum class expected : std::uint8_t { told, silent, not_awaited };
  expected ask(pid_t task);

  kernel_access kernel_;
  tracee_table& tracees_;
  event_queue& events_;
  const tracer_options& options_;
  status_sink& sink_;
  std::vector<pid_t> expected_;  ///< threads that were interrupted and have not reported yet
  bool is_stopping_many_ = false;
};

}  // namespace mpiacq::tracing
