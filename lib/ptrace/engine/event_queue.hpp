// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "kernel/proc_files.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

/// Events for the tool. They wait here while the socket is full. The queue remembers each event until the tool
/// acknowledges it: the tool sent earlier commands without knowledge of that event.
class event_queue {
 public:
  explicit event_queue(unique_fd socket) : socket_(std::move(socket)) {}

  void push(process_event event);
  void report(pid_t process, decltype(process_event::what) what) { push({process_id{process}, std::move(what)}); }
  void report_problem(pid_t process, error what) { report(process, tracing_problem{std::move(what)}); }
  /// Reports the error, if there is one.
  void report_if_failed(pid_t process, result<void> outcome) {
    if (!outcome) report_problem(process, std::move(outcome).error());
  }
  /// Acknowledges events: the tool had received this many when it sent the current command.
  void taken(std::uint64_t count);
  /// Whether an event of this process is unacknowledged: the tool does not know yet what happened to it.
  [[nodiscard]] bool has_any_of(process_id process) const;
  /// Whether every event was sent. The tool may not have received all of them.
  [[nodiscard]] bool all_sent() const { return sent_ == known_.size(); }
  /// Sends as many events as the socket accepts.
  void send();
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  unique_fd socket_;
  std::deque<process_event> known_;  ///< unacknowledged events, the oldest first
  std::size_t sent_ = 0;             ///< the number of them that were sent
  std::uint64_t taken_ = 0;
};

}  // namespace mpiacq::tracing
