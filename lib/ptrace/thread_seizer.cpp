// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "thread_seizer.hpp"

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <sys/wait.h>

namespace mpiacq::tracing {

using namespace std::chrono_literals;

thread_seizer::thread_seizer(const ptrace_calls& calls, std::vector<pid_t> held)
    : calls_(calls), held_(std::move(held)) {}

thread_seizer::~thread_seizer() {
  if (!watch_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  watch_.join();
}

result<void> thread_seizer::seize(pid_t process, pid_t thread, unsigned long options) {
  if (!watch_.joinable() && !held_.empty()) start_watch();
  ++calls_begun_and_ended_;
  auto seized = calls_.seize(thread, options);
  ++calls_begun_and_ended_;
  if (seized && thread != process) {
    const std::lock_guard lock(mutex_);
    held_.push_back(thread);
  }
  return seized;
}

std::vector<pid_t> thread_seizer::take_ended() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

void thread_seizer::start_watch() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watch_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Without it all is well but for an exec at just this moment.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void thread_seizer::watch() {
  std::uint64_t before = 0;
  std::unique_lock lock(mutex_);
  while (!over_changed_.wait_for(lock, 10ms, [this] { return over_; })) {
    const std::uint64_t now = calls_begun_and_ended_;
    if (now == before && now % 2 == 1) wait_for_ended();
    before = now;
  }
}

void thread_seizer::wait_for_ended() {
  std::erase_if(held_, [this](pid_t thread) {
    siginfo_t info{};
    // Ends only: the stops are for the engine.
    const bool ended =
        ::waitid(P_PID, static_cast<id_t>(thread), &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid == thread;
    if (ended) ended_.push_back(thread);
    return ended;
  });
}

}  // namespace mpiacq::tracing
