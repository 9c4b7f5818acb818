// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process for which signals stay pending.
#pragma once

#include <array>
#include <csignal>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::test {

/// A child that takes no signal but SIGKILL until it may go on: it waits in the kernel for a child of its own, as in
/// vfork(2). Until then, signals stay pending. It blocks SIGUSR1, which would end it like SIGKILL.
class unstoppable_child {
 public:
  unstoppable_child() {
    std::array<int, 2> ready{-1, -1}, hold{-1, -1};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0 || ::pipe2(hold.data(), O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(hold[1]);
      char byte = 'x';
      sigset_t blocked;
      sigemptyset(&blocked);
      sigaddset(&blocked, SIGUSR1);
      ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
      if (::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
        if (::write(ready[1], &byte, 1) == 1) (void)!::read(hold[0], &byte, 1);
        ::_exit(0);
      }
      for (;;) ::pause();
    }
    ::close(ready[1]);
    ::close(hold[0]);
    hold_ = hold[1];
    char byte = 0;
    is_ready_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~unstoppable_child() {
    ::kill(pid_, SIGKILL);
    go_on();
    ::waitpid(pid_, nullptr, 0);
  }
  unstoppable_child(const unstoppable_child&) = delete;
  unstoppable_child& operator=(const unstoppable_child&) = delete;

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }
  void go_on() {
    if (hold_ >= 0) ::close(hold_);
    hold_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int hold_ = -1;
  bool is_ready_ = false;
};

}  // namespace mpiacq::test
