// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Attaching to one thread after the other of a process that may be in the middle of an exec.
//
// A thread that execs holds a lock of the kernel's (cred_guard_mutex) while it waits until the other threads of its
// process are gone, and a traced thread is gone only when its tracer has waited for it. PTRACE_SEIZE takes the same
// lock. So with one thread seized and the next one to come, tracer and exec could wait for each other for ever. (Seen
// on Linux 6.18; a known fault.) Only a wait for the seized threads ends that, and the tracer is in the kernel. So
// another thread of the tracing process makes that wait, once a seize takes long.
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
  /// `holds_some`: threads of the process are traced already.
  thread_seizer(const ptrace_calls& calls, pid_t process, bool holds_some)
      : calls_(calls), process_(process), holds_some_(holds_some) {}
  ~thread_seizer();
  thread_seizer(const thread_seizer&) = delete;
  thread_seizer& operator=(const thread_seizer&) = delete;

  [[nodiscard]] result<void> seize(pid_t thread, unsigned long options);
  /// Does not search for the reason of a failure.
  [[nodiscard]] bool try_seize(pid_t thread, unsigned long options);
  /// The next threads are of this process, one of whose threads is traced already. To be called after take_ended.
  void turn_to(pid_t process);
  /// Threads that have ended, and whose ends were taken here: no other wait reports them.
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
