// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool's side of the tracer server. The tracer server is a separate process because breakpoints do not vanish with
// their tracer: the debug registers of a thread keep their values (seen on Linux 6.18), a trap instruction stays in the
// code, and SIGTRAP kills the thread that meets one. When the tool dies, the tracer server removes the breakpoints as
// at any detach, releases the processes, and ends. It is a child of the tool and the parent of launched programs, so
// that both stay ancestors of the job, as kernel.yama.ptrace_scope=1 requires of a process that reads its memory.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "wire/channel.hpp"
#include "wire/tracer_messages.hpp"

namespace mpiacq::tracing {

inline constexpr int commands_descriptor = 3;
inline constexpr int events_descriptor = 4;
inline constexpr unsigned first_free_descriptor = 5;

/// Ends the commands to all tracer servers of this program (tracer::release_everything).
void end_all_commands() noexcept;

class tracer_client {
 public:
  /// The tracer server has started, or starts with the first command (`tracer_options::start_when_needed`).
  [[nodiscard]] static result<std::unique_ptr<tracer_client>> make(const tracer_options& options);
  /// Makes the tracer server release everything, and waits until it has. Does nothing in a forked child: the session
  /// and its events belong to the parent.
  ~tracer_client();
  tracer_client(const tracer_client&) = delete;
  tracer_client& operator=(const tracer_client&) = delete;

  /// Sends a command, and waits for the answer.
  template <class Command>
  [[nodiscard]] result<typename Command::answer> ask(Command what, std::span<const int> descriptors = {}) {
    const auto bytes = exchange(encode(request_message{events_taken_, std::move(what)}), descriptors);
    if (!bytes) return fail(bytes.error());
    auto answer = decode<result<typename Command::answer>>(*bytes);
    if (!answer) return fail(gone());
    return std::move(*answer);
  }
  /// The next event; empty if `until` passes first.
  [[nodiscard]] result<std::optional<process_event>> next_event(deadline until);
  [[nodiscard]] int event_descriptor() const { return events_.get(); }
  /// tracer::keep_held.
  result<void> keep_held();

 private:
  tracer_client(socket_pair commands, socket_pair events, tracer_options options)
      : commands_(std::move(commands.ours)),
        events_(std::move(events.ours)),
        options_(std::move(options)),
        for_server_{std::move(commands.theirs), std::move(events.theirs)} {
    enlist();
  }
  [[nodiscard]] bool is_started() const { return !for_server_.commands; }
  /// Starts the tracer server, unless it has been started. The caller has `mutex_`.
  [[nodiscard]] result<void> start_if_needed();
  [[nodiscard]] result<void> start();
  /// Adds this object's socket to the list of end_all_commands, and removes it.
  void enlist() const;
  void strike_off() const;
  [[nodiscard]] deadline next_sign_of_life() const;
  [[nodiscard]] result<std::vector<std::byte>> exchange(std::span<const std::byte> request,
                                                        std::span<const int> descriptors);
  [[nodiscard]] result<std::vector<std::byte>> exchange_with_server(std::span<const std::byte> request,
                                                                    std::span<const int> descriptors);
  [[nodiscard]] result<std::optional<process_event>> event_at_once();
  /// "was ended by signal 9"; "has ended" if no more is known.
  [[nodiscard]] std::string how_it_ended();
  [[nodiscard]] error gone();
  /// Whether this object is a copy in a forked child.
  [[nodiscard]] bool is_a_copy() const { return ::getpid() != made_in_; }
  [[nodiscard]] error not_the_maker() const;

  const pid_t made_in_ = ::getpid();
  pid_t id_ = 0;
  std::mutex mutex_;  ///< one command at a time
  unique_fd commands_;
  unique_fd events_;
  std::uint64_t events_taken_ = 0;
  tracer_options options_;
  struct {
    unique_fd commands;
    unique_fd events;
  } for_server_;  ///< the server's ends of the sockets, until it is started
  bool waited_for_end_ = false;
  std::string ended_how_;  ///< empty until it is known
  clock::time_point last_command_ = clock::now();
};

}  // namespace mpiacq::tracing
