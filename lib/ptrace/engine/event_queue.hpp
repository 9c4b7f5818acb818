// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "kernel/proc_files.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

/// Events on their way to the tool. They wait here while the socket is full. The queue remembers each event until the
/// tool says that it has taken it: a command that the tool sent before that was given without knowing of the event.
class event_queue {
 public:
  explicit event_queue(unique_fd socket) : socket_(std::move(socket)) {}

  void push(process_event event);
  void report(pid_t process, decltype(process_event::what) what) { push({process_id{process}, std::move(what)}); }
  void report_problem(pid_t process, error what) { report(process, tracing_problem{std::move(what)}); }
  /// Reports the error where there is one.
  void report_if_failed(pid_t process, result<void> outcome) {
    if (!outcome) report_problem(process, std::move(outcome).error());
  }
  /// The tool had taken this many events when it sent the command that is about to be carried out.
  void taken(std::uint64_t count);
  /// An event of this process is on its way: the tool does not know yet what happened to it.
  [[nodiscard]] bool has_any_of(process_id process) const;
  /// Every event was sent. The tool may not have taken all of them.
  [[nodiscard]] bool all_sent() const { return sent_ == known_.size(); }
  /// Sends what the socket takes.
  void send();
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  unique_fd socket_;
  std::deque<process_event> known_;  ///< not taken yet, the oldest first
  std::size_t sent_ = 0;             ///< how many of them were sent
  std::uint64_t taken_ = 0;
};

}  // namespace mpiacq::tracing
