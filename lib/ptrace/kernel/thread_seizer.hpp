// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Attaches to the threads of a process, one after the other, while the process may be in the middle of an exec.
//
// A thread that execs holds a kernel lock (cred_guard_mutex) while it waits until the other threads of its process are
// gone, and a traced thread is gone only when its tracer has waited for it. PTRACE_SEIZE takes the same lock. Between
// two seizes, tracer and exec can therefore deadlock (seen on Linux 6.18; a known fault). Only a wait for the seized
// threads ends the deadlock, and the tracer is blocked in the kernel. Another thread of the tracer server makes that
// wait when a seize takes long.
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
  /// `holds_some`: whether threads of the process are traced already.
  thread_seizer(const ptrace_calls& calls, pid_t process, bool holds_some)
      : calls_(calls), process_(process), holds_some_(holds_some) {}
  ~thread_seizer();
  thread_seizer(const thread_seizer&) = delete;
  thread_seizer& operator=(const thread_seizer&) = delete;

  [[nodiscard]] result<void> seize(pid_t thread, unsigned long options);
  /// Seizes the thread. Does not search for the reason of a failure.
  [[nodiscard]] bool try_seize(pid_t thread, unsigned long options);
  /// Switches to another process, one of whose threads is traced already. Must be called after take_ended.
  void turn_to(pid_t process);
  /// The threads whose ends were collected here: no other wait reports them.
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
