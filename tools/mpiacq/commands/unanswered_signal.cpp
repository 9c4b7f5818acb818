// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/unanswered_signal.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "helper/all_signals_blocked.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::array ending = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
constexpr int milliseconds_to_answer = 3000;
constexpr int milliseconds_between_looks = 100;

bool asks_to_end(int number) {
  return std::find(ending.begin(), ending.end(), number) != ending.end();
}

void count_up(int eventfd) {
  constexpr std::uint64_t one = 1;
  (void)!::write(eventfd, &one, sizeof one);
}

/// Takes the signal's default action, so that the shell learns which signal ended this program.
[[noreturn]] void end_by(int number) {
  constexpr std::string_view text =
      "mpiacq: the work at hand did not end within three seconds of the signal (the memory of a process may not "
      "answer); the signal ends mpiacq, and all processes are released\n";
  tracer::release_everything();
  // A reader that has stopped reading must not block this program: a pipe that is ready has room for these bytes.
  pollfd stream{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&stream, 1, 0) == 1 && (stream.revents & POLLOUT) != 0) {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  }
  ::signal(number, SIG_DFL);
  sigset_t that;
  sigemptyset(&that);
  sigaddset(&that, number);
  ::pthread_kill(::pthread_self(), number);
  ::pthread_sigmask(SIG_UNBLOCK, &that, nullptr);
  ::_exit(128 + number);
}

}  // namespace

unanswered_signal::unanswered_signal()
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const base::all_signals_blocked blocked;
  try {
    if (wake_ >= 0 && stop_ >= 0) thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Without the thread, a signal takes effect only when the main thread handles it.
  }
}

unanswered_signal::~unanswered_signal() {
  if (thread_.joinable()) {
    count_up(stop_);
    thread_.join();
  }
  for (const int fd : {wake_, stop_}) {
    if (fd >= 0) ::close(fd);
  }
}

void unanswered_signal::noted(int number) {
  if (!asks_to_end(number)) return;
  if (untaken_ != 0) {
    // This is a handler, in which the signal is blocked: it ends the program when the handler returns.
    tracer::release_everything();
    ::signal(number, SIG_DFL);
    ::raise(number);
    return;
  }
  untaken_ = number;
  count_up(wake_);
}

void unanswered_signal::taken() {
  untaken_ = 0;
}

/// The pending signal; 0 if there is none. A signal that no thread has handled yet is pending for the whole process;
/// this thread sees it because it blocks the signal.
int unanswered_signal::waiting_signal() const {
  sigset_t waiting;
  if (::sigpending(&waiting) == 0) {
    for (const int number : ending) {
      if (::sigismember(&waiting, number) == 1) return number;
    }
  }
  return untaken_;
}

void unanswered_signal::watch() const {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : ending) sigaddset(&watched, number);
  // The descriptor is polled and never read, so that the signals stay for the handlers.
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  for (;;) {
    std::array<pollfd, 3> all = {{{stop_, POLLIN, 0}, {wake_, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(all.data(), all.size(), -1) < 0) continue;
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
    int left = milliseconds_to_answer;
    for (int number = waiting_signal(); number != 0; number = waiting_signal()) {
      if (left <= 0) end_by(number);
      left -= milliseconds_between_looks;
      if (::poll(all.data(), 1, milliseconds_between_looks) > 0) break;
    }
    if (::poll(all.data(), 1, 0) > 0) break;
  }
  if (signals >= 0) ::close(signals);
}

}  // namespace mpiacq::tool
