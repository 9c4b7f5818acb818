// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/engine.hpp"
#include "engine/event_queue.hpp"
#include "kernel/waiter.hpp"
#include "wire/tracer_messages.hpp"

namespace mpiacq::tracing {

/// The main loop of the tracer server. It carries out the tool's commands and collects wait statuses. When the tool
/// ends, by whatever means, the tracer server releases every process and ends, too.
class tracer_server {
 public:
  struct tool_ends {
    unique_fd commands;  ///< SOCK_STREAM
    unique_fd events;    ///< SOCK_SEQPACKET
    unique_fd process;   ///< a pidfd of the tool; may be missing
    unique_fd guard;     ///< SOCK_SEQPACKET: notes to the guard; may be missing
  };
  tracer_server(tool_ends tool, waiter w);
  void run();

 private:
  void await_something();
  void take_statuses();
  void take_command();
  void carry_out(command& what, std::vector<unique_fd>& descriptors);
  void begin_to_leave();
  void say_goodbye();
  [[nodiscard]] bool all_let_go() const;
  template <class T>
  [[nodiscard]] reply<T> replier();

  tool_ends tool_;
  waiter waiter_;
  event_queue events_;
  tracer_options options_;
  this_kernel kernel_;
  engine engine_;
  bool leaving_ = false;
  bool command_there_ = false;
  bool signal_there_ = false;
  bool tool_gone_ = false;
};

}  // namespace mpiacq::tracing
