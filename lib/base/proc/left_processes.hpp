// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>

namespace mpiacq::base {

/// Child processes that outlive the objects that owned them, and end by themselves. A child whose end the kernel has
/// told to nobody stays a zombie, so the owner calls `reap` now and then. Thread: any.
class left_processes {
 public:
  void add(pid_t id) {
    const std::lock_guard lock(mutex_);
    all_.push_back(id);
  }
  void reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](pid_t id) { return ::waitpid(id, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> all_;
};

}  // namespace mpiacq::base
