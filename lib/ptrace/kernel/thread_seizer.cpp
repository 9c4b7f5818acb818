// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/thread_seizer.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include <sys/ptrace.h>

#include "helper/all_signals_blocked.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/waiter.hpp"

namespace mpiacq::tracing {

using namespace std::chrono_literals;

thread_seizer::~thread_seizer() {
  if (!watch_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  watch_.join();
}

template <class Call>
auto thread_seizer::watched(Call call) {
  if (holds_some_ && !watch_.joinable()) start_watch();
  ++calls_begun_and_ended_;
  auto answer = call();
  ++calls_begun_and_ended_;
  return answer;
}

result<void> thread_seizer::seize(pid_t thread, unsigned long options) {
  auto seized = watched([&] { return calls_.seize(thread, options); });
  holds_some_ = holds_some_ || seized.has_value();
  return seized;
}

bool thread_seizer::try_seize(pid_t thread, unsigned long options) {
  const bool seized = watched([&] { return calls_.raw(PTRACE_SEIZE, thread, 0, options) >= 0; });
  holds_some_ = holds_some_ || seized;
  return seized;
}

void thread_seizer::turn_to(pid_t process) {
  const std::lock_guard lock(mutex_);
  process_ = process;
  holds_some_ = true;
}

std::vector<pid_t> thread_seizer::take_ended() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

void thread_seizer::start_watch() {
  const base::all_signals_blocked blocked;
  try {
    watch_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Without the watching thread, only an exec at exactly this moment is a problem.
  }
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

/// The list includes threads that the kernel attached and that have not reported yet. No exec waits for the leader's
/// end.
void thread_seizer::wait_for_ended() {
  for (const pid_t thread : list_threads(process_)) {
    // Collects only ends; the engine collects the stops. An untraced thread has neither.
    if (thread == process_ || !waiter::take_end_of(thread)) continue;
    ended_.push_back(thread);
    waiter::look_again();  // its leader's end may have depended on it
  }
}

}  // namespace mpiacq::tracing
