// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdlib>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::bench {

/// Copies of a program that says with one byte that it waits at the end of its calls.
class job_of_copies {
 public:
  job_of_copies(const char* program, int count) {
    int told[2];
    if (::pipe(told) != 0) std::abort();
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::dup2(told[1], STDOUT_FILENO);
        ::execl(program, program, nullptr);
        ::_exit(127);
      }
      pids_.emplace_back(child);
    }
    ::close(told[1]);
    for (char byte = 0; count > 0 && ::read(told[0], &byte, 1) == 1; --count) continue;
    ::close(told[0]);
    if (count != 0) std::abort();
  }
  ~job_of_copies() {
    for (const process_id pid : pids_) ::kill(static_cast<pid_t>(pid.value()), SIGKILL);
    while (::wait(nullptr) > 0) continue;
  }
  [[nodiscard]] const std::vector<process_id>& pids() const { return pids_; }

 private:
  std::vector<process_id> pids_;
};

}  // namespace mpiacq::bench
