// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Attaching to thread after thread of a process that may be in the middle of an exec.
//
// A thread that execs holds a lock of the kernel's (cred_guard_mutex) while it waits until the other threads of its
// process are gone, and a traced thread is gone only when its tracer has waited for it. PTRACE_SEIZE takes the same
// lock. So with one thread seized and the next one to come, tracer and exec could wait for each other for ever. (Seen
// on Linux 6.18; a known fault.) Nothing ends that but a wait for the threads that we have, and we are in the kernel:
// so another thread of ours makes it, once a seize takes long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel/ptrace_call.hpp"

namespace mpiacq::tracing {

class thread_seizer {
 public:
  /// `holds_some`: threads of the process are ours already.
  thread_seizer(const ptrace_calls& calls, pid_t process, bool holds_some)
      : calls_(calls), process_(process), holds_some_(holds_some) {}
  ~thread_seizer();
  thread_seizer(const thread_seizer&) = delete;
  thread_seizer& operator=(const thread_seizer&) = delete;

  [[nodiscard]] result<void> seize(pid_t thread, unsigned long options);
  /// Without the search for a reason where it fails.
  [[nodiscard]] bool try_seize(pid_t thread, unsigned long options);
  /// The next ones are threads of this process, one of which is ours. To be called after take_ended.
  void turn_to(pid_t process);
  /// Threads that have ended and were waited for here: nobody else will be told of them.
  [[nodiscard]] std::vector<pid_t> take_ended();

 private:
  template <class Call>
  auto watched(Call call);
  void start_watch();
  void watch();
  void wait_for_ended();

  const ptrace_calls& calls_;
  pid_t process_;
  bool holds_some_;
  std::atomic<std::uint64_t> calls_begun_and_ended_{0};  ///< odd: in the middle of one
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::vector<pid_t> ended_;
  std::thread watch_;
};

}  // namespace mpiacq::tracing
