// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <unistd.h>

namespace mpiacq::tool {

namespace {

constexpr std::array caught = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

// The handler uses these: the two ends of a pipe, which are set before any handler.
int pipe_read_end = -1;
int pipe_write_end = -1;
std::array<struct sigaction, caught.size()> before;

// With when_busy::end.
unanswered_signal* patience = nullptr;

void note(int number, siginfo_t* info, void*) {
  // SIGPIPE does not end mpiacq: after the reader of a report has gone, the write fails with EPIPE.
  if (number == SIGPIPE) return;
  const int saved_errno = errno;
  if (patience != nullptr) patience->noted(number);
  // Signals of the terminal come from the kernel; si_code is positive exactly for those.
  const std::array<char, 2> message = {static_cast<char>(number), static_cast<char>(info->si_code > 0 ? 1 : 0)};
  // A write of two bytes to a pipe is atomic; a full pipe holds 32,768 signals.
  (void)!::write(pipe_write_end, message.data(), message.size());
  errno = saved_errno;
}

}  // namespace

signal_catcher::signal_catcher(when_busy policy) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  pipe_read_end = ends[0];
  pipe_write_end = ends[1];
  if (policy == when_busy::end) patience = &patience_.emplace();
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
  patience = nullptr;
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
  if (patience_) patience_->taken();
  return received_signal{message[0], message[1] != 0};
}

}  // namespace mpiacq::tool
