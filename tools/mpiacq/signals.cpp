// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace mpiacq::tool {

namespace {

constexpr std::array caught = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

// What the handler may touch: a pipe's two ends, set before any handler is.
int pipe_read_end = -1;
int pipe_write_end = -1;
std::array<struct sigaction, caught.size()> before;

// With when_busy::end: the signal that nobody has taken yet, and the timer that ends the command if nobody does.
constexpr std::array ending = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
constexpr itimerspec patience{{0, 0}, {1, 0}};
volatile std::sig_atomic_t untaken = 0;
bool has_timer = false;
timer_t timer;
struct sigaction alarm_before;

/// Ends this process by a signal, once no handler runs any more.
void end_by(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void end_when_busy(int) {
  if (untaken != 0) end_by(untaken);
}

/// In the handler of a signal.
void ask_to_end(int number) {
  if (!has_timer || std::find(ending.begin(), ending.end(), number) == ending.end()) return;
  if (untaken != 0) return end_by(number);
  untaken = number;
  ::timer_settime(timer, 0, &patience, nullptr);
}

void note(int number, siginfo_t* info, void*) {
  // A reader of our report that has gone is our own affair, and no end of us: the write says EPIPE.
  if (number == SIGPIPE) return;
  const int saved_errno = errno;
  ask_to_end(number);
  // Signals of the terminal come from the kernel; si_code is positive exactly for those.
  const std::array<char, 2> message = {static_cast<char>(number), static_cast<char>(info->si_code > 0 ? 1 : 0)};
  // Two bytes go into a pipe whole or not at all; a full pipe holds 32,768 signals that nobody took.
  (void)!::write(pipe_write_end, message.data(), message.size());
  errno = saved_errno;
}

}  // namespace

signal_catcher::signal_catcher(when_busy policy) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  pipe_read_end = ends[0];
  pipe_write_end = ends[1];
  untaken = 0;
  sigevent expiry{};
  expiry.sigev_notify = SIGEV_SIGNAL;
  expiry.sigev_signo = SIGALRM;
  has_timer = policy == when_busy::end && ::timer_create(CLOCK_MONOTONIC, &expiry, &timer) == 0;
  if (has_timer) {
    struct sigaction action {};
    action.sa_handler = end_when_busy;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, &alarm_before);
  }
  for (std::size_t i = 0; i < caught.size(); ++i) {
    ::sigaction(caught[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN) continue;
    // Handlers do not survive an exec: the starter gets the default action back.
    struct sigaction action {};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    ::sigaction(caught[i], &action, nullptr);
  }
}

signal_catcher::~signal_catcher() {
  if (pipe_read_end < 0) return;
  for (std::size_t i = 0; i < caught.size(); ++i) ::sigaction(caught[i], &before[i], nullptr);
  if (has_timer) {
    ::timer_delete(timer);
    ::sigaction(SIGALRM, &alarm_before, nullptr);
    has_timer = false;
  }
  ::close(pipe_read_end);
  ::close(pipe_write_end);
  pipe_read_end = pipe_write_end = -1;
}

int signal_catcher::descriptor() const {
  return pipe_read_end;
}

std::optional<received_signal> signal_catcher::take() {
  std::array<char, 2> message{};
  if (::read(pipe_read_end, message.data(), message.size()) != static_cast<ssize_t>(message.size())) {
    return std::nullopt;
  }
  if (has_timer) {
    constexpr itimerspec never{};
    ::timer_settime(timer, 0, &never, nullptr);
    untaken = 0;
  }
  return received_signal{message[0], message[1] != 0};
}

}  // namespace mpiacq::tool
