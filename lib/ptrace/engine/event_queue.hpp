// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "engine/proc_files.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

/// Events on their way to the tool. They wait here while the socket is full, and are remembered until the tool says
/// that it was given them: what it commands before that, it commands without knowing of them.
class event_queue {
 public:
  explicit event_queue(unique_fd socket) : socket_(std::move(socket)) {}

  void push(process_event event);
  /// The tool had been given this many events when it sent the command that is about to be carried out.
  void taken(std::uint64_t count);
  /// An event of this process is on its way: the tool does not know yet what happened to it.
  [[nodiscard]] bool has_any_of(process_id process) const;
  /// All were sent, though not all may have been taken.
  [[nodiscard]] bool all_sent() const { return sent_ == known_.size(); }
  /// Sends what the socket takes.
  void send();
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  unique_fd socket_;
  std::deque<process_event> known_;  ///< not taken yet, the oldest first
  std::size_t sent_ = 0;             ///< that many of them
  std::uint64_t taken_ = 0;
};

}  // namespace mpiacq::tracing
