// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <variant>

#include <sys/types.h>
#include <time.h>

#include "mpiacq/error.hpp"
#include "mpiacq/tracer.hpp"
#include "wait_status.hpp"

namespace mpiacq::tracing {

/// The real-time signal that gets a thread of ours out of waitpid. While one lives the signal has an empty handler
/// (without SA_RESTART, so that the system call ends); the last one of a signal puts the default disposition back.
class wake_signal {
 public:
  /// busy: the signal, or every real-time signal, has a handler of the host program's.
  [[nodiscard]] static result<wake_signal> acquire(int wanted);
  wake_signal(wake_signal&& other) noexcept;
  wake_signal& operator=(wake_signal&&) = delete;
  ~wake_signal();
  [[nodiscard]] int number() const { return number_; }

 private:
  explicit wake_signal(int number) : number_(number) {}
  int number_;
};

/// A task changed its state.
struct task_report {
  pid_t task;
  wait_status status;
};
/// The wait was cut short: a command is there, or the time is up.
struct woken {};
/// There is nothing to wait for.
struct nothing_to_wait_for {};
using wait_outcome = std::variant<task_report, woken, nothing_to_wait_for>;

/// All waiting of the room. Only children and tracees of the calling thread are seen (__WNOTHREAD): the host program's
/// own children are never touched.
class waiter {
 public:
  /// On the thread that will wait. Blocks every signal there but the one that wakes it.
  [[nodiscard]] static result<std::unique_ptr<waiter>> create(int wake_signal);
  ~waiter();
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Waits for any of them.
  [[nodiscard]] wait_outcome wait_any();
  /// Waits for the end of one child that is not traced, or is known to end.
  static void reap(pid_t child);
  /// `wait_any` is woken when this moment has passed. Replaces the one before.
  void wake_at(deadline when);

 private:
  explicit waiter(timer_t timer) : timer_(timer) {}
  timer_t timer_;
  deadline armed_ = no_deadline;
};

}  // namespace mpiacq::tracing
