// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/tracee_table.hpp"
#include "kernel/kernel_access.hpp"
#include "kernel/waiter.hpp"

namespace mpiacq::tracing {

/// Receives the result of a wait for a task.
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
/// The kernel finds a task by its number at once, but a wait for any task searches through all of them. Interrupted
/// threads are therefore waited for by number.
class stop_collector {
 public:
  stop_collector(kernel_access kernel, tracee_table& tracees, event_queue& events, const tracer_options& options,
                 status_sink& sink)
      : kernel_(kernel), tracees_(tracees), events_(events), options_(options), sink_(sink) {}

  /// Interrupts every thread of the process and sets phase stopping.
  void begin(traced_process& process);
  /// Sets phase stopping. The threads of the process have been interrupted.
  void await(traced_process& process);
  /// Adds an interrupted thread to those that will report.
  void expect(pid_t task) { expected_.push_back(task); }
  /// Collects the stops of the interrupted threads that have stopped.
  void take_expected();

  /// Interrupts many processes whose threads are all seized, and collects their stops. Most threads have stopped by the
  /// time when the last one has been interrupted. Until every thread has been waited for once, the kernel signals no
  /// stops, so that a signal then means the end of a task.
  void stop_many(std::span<traced_process* const> all);
  [[nodiscard]] bool is_stopping_many() const { return is_stopping_many_; }
  /// Ends stop_many: stops are signalled again. True if a task has ended meanwhile.
  [[nodiscard]] bool end_stopping_many();

  /// The time for the stop is over: marks threads that have not stopped as late and reports them to the tool.
  void give_up(traced_process& process);
  /// Whether the leader, whose stop is missing, is a zombie. The kernel keeps a leader that ends before other threads
  /// as a zombie, without a report. If it is not one, the next check is scheduled.
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
