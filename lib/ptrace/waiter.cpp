// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "waiter.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

std::mutex wake_signals_mutex;

std::map<int, int>& wake_signal_users() {
  static std::map<int, int> users;
  return users;
}

extern "C" void do_nothing_on_wake(int) {}

/// Under the mutex. False where the host program has a disposition of its own for it.
bool take(int number) {
  auto& users = wake_signal_users();
  if (const auto in_use = users.find(number); in_use != users.end()) {
    ++in_use->second;
    return true;
  }
  struct sigaction now {};
  if (::sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) {
    return false;
  }
  struct sigaction ours {};
  ours.sa_handler = do_nothing_on_wake;
  ::sigemptyset(&ours.sa_mask);
  if (::sigaction(number, &ours, nullptr) != 0) return false;
  users[number] = 1;
  return true;
}

}  // namespace

result<wake_signal> wake_signal::acquire(int wanted) {
  const std::lock_guard lock(wake_signals_mutex);
  if (wanted != 0) {
    if (wanted < SIGRTMIN || wanted > SIGRTMAX) {
      return fail(error_code::invalid_argument,
                  fmt::format("the wake signal {} is no real-time signal ({} to {})", wanted, SIGRTMIN, SIGRTMAX));
    }
    if (take(wanted)) return wake_signal{wanted};
    return fail(error_code::busy, fmt::format("the wake signal {} has a handler already; name another one", wanted));
  }
  for (int number = SIGRTMAX; number >= SIGRTMIN; --number) {
    if (take(number)) return wake_signal{number};
  }
  return fail(error_code::busy, "every real-time signal has a handler already; the tracer needs one of its own");
}

wake_signal::wake_signal(wake_signal&& other) noexcept : number_(other.number_) {
  other.number_ = 0;
}

wake_signal::~wake_signal() {
  if (number_ == 0) return;
  const std::lock_guard lock(wake_signals_mutex);
  auto& users = wake_signal_users();
  if (--users[number_] > 0) return;
  users.erase(number_);
  struct sigaction now {};
  // Somebody may have put a handler in since; that one stays.
  if (::sigaction(number_, nullptr, &now) == 0 && now.sa_handler == do_nothing_on_wake) ::signal(number_, SIG_DFL);
}

result<std::unique_ptr<waiter>> waiter::create(int wake_signal) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigdelset(&all, wake_signal);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  sigevent to_us;
  std::memset(&to_us, 0, sizeof to_us);
  to_us.sigev_notify = SIGEV_THREAD_ID;
  to_us.sigev_signo = wake_signal;
  to_us._sigev_un._tid = ::gettid();
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &to_us, &timer) != 0) {
    return fail(error{error_code::system, "no timer for the tracer's thread"}.with_errno(errno));
  }
  return std::unique_ptr<waiter>(new waiter(timer));
}

waiter::~waiter() {
  ::timer_delete(timer_);
}

wait_outcome waiter::wait_any() {
  int raw = 0;
  const pid_t task = ::waitpid(-1, &raw, __WALL | __WNOTHREAD);
  if (task > 0) return task_report{task, decode_wait_status(raw)};
  if (errno == ECHILD) return nothing_to_wait_for{};
  return woken{};
}

void waiter::reap(pid_t child) {
  int raw = 0;
  while (::waitpid(child, &raw, __WALL | __WNOTHREAD) < 0 && errno == EINTR) {
  }
}

void waiter::wake_at(deadline when) {
  if (when == armed_) return;
  armed_ = when;
  itimerspec setting{};
  if (when != no_deadline) {
    const auto since_boot = std::max<clock::duration>(when.time_since_epoch(), 1ns);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    setting.it_value.tv_sec = seconds.count();
    setting.it_value.tv_nsec = std::chrono::nanoseconds(since_boot - seconds).count();
    // Again and again until it is disarmed: one that came just before waitpid would wake nobody.
    setting.it_interval.tv_nsec = std::chrono::nanoseconds(1ms).count();
  }
  ::timer_settime(timer_, TIMER_ABSTIME, &setting, nullptr);
}

}  // namespace mpiacq::tracing
