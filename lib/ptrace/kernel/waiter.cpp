// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/waiter.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpiacq::tracing {

result<waiter> waiter::create() {
  sigset_t of_children;
  ::sigemptyset(&of_children);
  ::sigaddset(&of_children, SIGCHLD);
  unique_fd signals{::signalfd(-1, &of_children, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!signals) return fail(error{error_code::system, "no signalfd for the tracing process"}.with_errno(errno));
  return waiter(std::move(signals));
}

void waiter::drain() {
  // One SIGCHLD stands for any number of changes, so that its own data is of no use.
  std::array<signalfd_siginfo, 4> told{};
  while (::read(signals_.get(), told.data(), sizeof told) > 0) {
  }
}

void waiter::look_again() {
  ::kill(::getpid(), SIGCHLD);
}

void waiter::signal_stops(bool wanted) {
  // SIGCHLD is blocked here, so that the handler never runs. The default action does not work: it ignores the signal,
  // and setting it would discard a pending SIGCHLD for a task that has just ended.
  struct sigaction never_taken {};
  never_taken.sa_handler = [](int) {};
  never_taken.sa_flags = wanted ? 0 : SA_NOCLDSTOP;
  ::sigaction(SIGCHLD, &never_taken, nullptr);
}

bool waiter::is_signalled() {
  sigset_t waiting;
  return ::sigpending(&waiting) != 0 || ::sigismember(&waiting, SIGCHLD) != 0;
}

std::optional<task_report> waiter::next() {
  return next_of(-1);
}

std::optional<task_report> waiter::next_of(pid_t which) {
  int raw = 0;
  pid_t task = 0;
  do {
    task = ::waitpid(which, &raw, __WALL | WNOHANG);
  } while (task < 0 && errno == EINTR);
  if (task <= 0) return std::nullopt;
  return task_report{task, decode_wait_status(raw)};
}

void waiter::reap(pid_t child) {
  int raw = 0;
  while (::waitpid(child, &raw, __WALL) < 0 && errno == EINTR) {
  }
}

bool waiter::has_no_task() {
  siginfo_t info{};
  const auto any = WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL;
  return ::waitid(P_ALL, 0, &info, any) != 0 && errno == ECHILD;
}

bool waiter::take_end_of(pid_t task) {
  // The kernel returns the stops of tracees to their tracer, whichever kinds the wait requests. This call therefore
  // first looks without collecting.
  siginfo_t info{};
  const auto ends = WEXITED | WNOHANG | __WALL;
  if (::waitid(P_PID, static_cast<id_t>(task), &info, ends | WNOWAIT) != 0 || info.si_pid != task) return false;
  if (info.si_code != CLD_EXITED && info.si_code != CLD_KILLED && info.si_code != CLD_DUMPED) return false;
  return ::waitid(P_PID, static_cast<id_t>(task), &info, ends) == 0;
}

bool waiter::has_news_of(pid_t task) {
  siginfo_t info{};
  const auto any = WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL;
  return ::waitid(P_PID, static_cast<id_t>(task), &info, any) == 0 && info.si_pid == task;
}

}  // namespace mpiacq::tracing
