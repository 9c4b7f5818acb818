// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Records the addresses of other processes to which a command writes, in order (seccomp_unotify(2)).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run_command.hpp"

namespace mpiacq::test {

class write_watch {
 public:
  /// For `command_options::in_child`: from here on, each pwrite64 waits until the watch has recorded it.
  static void begin() {
    std::array<sock_filter, 4> filter = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog program = {filter.size(), filter.data()};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const auto listener =
        static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    if (listener < 0 || ::dup2(listener, listener_number) < 0) ::_exit(98);
  }

  /// Takes over the command's listener, and records on its own thread.
  explicit write_watch(pid_t command) {
    const auto process = static_cast<int>(::syscall(SYS_pidfd_open, command, 0));
    is_there_ = comes_true([&] {
      listener_ = static_cast<int>(::syscall(SYS_pidfd_getfd, process, listener_number, 0));
      return listener_ >= 0;
    });
    ::close(process);
    if (is_there_) looker_ = std::thread([this] { look(); });
  }
  ~write_watch() {
    ending_ = true;
    if (looker_.joinable()) looker_.join();
    if (listener_ >= 0) ::close(listener_);
  }
  write_watch(const write_watch&) = delete;
  write_watch& operator=(const write_watch&) = delete;

  [[nodiscard]] bool is_there() const { return is_there_; }
  /// The written offsets in /proc/PID/mem, which are addresses.
  [[nodiscard]] std::vector<std::uint64_t> addresses() {
    const std::scoped_lock lock(mutex_);
    return addresses_;
  }

 private:
  static constexpr int listener_number = 200;

  void look() {
    while (!ending_) {
      pollfd waiting{listener_, POLLIN, 0};
      constexpr int interval_ms = 20;
      if (::poll(&waiting, 1, interval_ms) <= 0 || (waiting.revents & POLLIN) == 0) {
        if ((waiting.revents & POLLHUP) != 0) return;
        continue;
      }
      seccomp_notif call{};
      if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
      {
        const std::scoped_lock lock(mutex_);
        addresses_.push_back(call.data.args[3]);
      }
      seccomp_notif_resp answer{};
      answer.id = call.id;
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
  }

  int listener_ = -1;
  bool is_there_ = false;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::vector<std::uint64_t> addresses_;
  std::thread looker_;
};

}  // namespace mpiacq::test
