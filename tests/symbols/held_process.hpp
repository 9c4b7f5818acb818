// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process that the test itself holds with ptrace, with the registers of its threads as the kernel gives them.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "mpiacq/process/core_writer.hpp"

namespace mpiacq::test {

/// Stops all threads. The destructor lets them run on. The threads must not create others meanwhile.
class held_process {
 public:
  explicit held_process(process_id pid) {
    process_.process = pid;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid.value()) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator{tasks}) {
      const auto task = static_cast<pid_t>(std::stol(entry.path().filename().string()));
      if (::ptrace(PTRACE_SEIZE, task, nullptr, nullptr) != 0) return;
      tasks_.push_back(task);
      if (::ptrace(PTRACE_INTERRUPT, task, nullptr, nullptr) != 0) return;
      int status = 0;
      while (::waitpid(task, &status, __WALL) < 0 && errno == EINTR) continue;
      if (!WIFSTOPPED(status)) return;
      process_.threads.push_back({thread_id{task}, registers(task, NT_PRSTATUS), registers(task, NT_PRFPREG)});
    }
    is_held_ = !process_.threads.empty();
  }
  ~held_process() {
    for (const pid_t task : tasks_) ::ptrace(PTRACE_DETACH, task, nullptr, nullptr);
  }
  held_process(const held_process&) = delete;
  held_process& operator=(const held_process&) = delete;

  [[nodiscard]] bool is_held() const { return is_held_; }
  /// The process, in the order of its threads' numbers.
  [[nodiscard]] const core_process& process() const { return process_; }

 private:
  static std::vector<std::byte> registers(pid_t task, unsigned type) {
    std::array<std::byte, 4096> room{};
    iovec into{room.data(), room.size()};
    if (::ptrace(PTRACE_GETREGSET, task, reinterpret_cast<void*>(static_cast<std::uintptr_t>(type)), &into) != 0)
      return {};
    return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(into.iov_len)};
  }

  core_process process_;
  std::vector<pid_t> tasks_;
  bool is_held_ = false;
};

}  // namespace mpiacq::test
