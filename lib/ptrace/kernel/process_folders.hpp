// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Keeps the /proc folders of processes open that are attached to repeatedly.
//
// An open folder /proc/PID/task belongs to the process, not to its pid: it is empty when the process has ended, even if
// another process gets the pid. One fstat shows whether the process exists and how many threads it has, in a sixth of
// the time that opening one of its files takes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "kernel/proc_files.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::tracing {

/// The start time of a process (/proc/PID/stat, field 22); empty if there is none with this pid.
[[nodiscard]] std::optional<std::uint64_t> read_start_time(pid_t process);

class process_folders {
 public:
  /// Opens the folder of the process with this pid, unless it is open already; a known process may have ended since.
  /// `start_time`: the start time that the process must have. False if the start time differs, if there is no such
  /// process, or if its folder cannot be opened.
  [[nodiscard]] bool know(pid_t process, std::optional<std::uint64_t> start_time);
  /// Forgets the processes that have ended, with one system call for all.
  void drop_ended();
  void drop(pid_t process) { all_.erase(process); }
  /// The number of threads of the known process with this pid, including dead ones that were not waited for. Empty if
  /// the process is unknown or has ended.
  [[nodiscard]] std::optional<int> count_threads(pid_t process);
  /// The result of the last count; empty if the process is unknown.
  [[nodiscard]] std::optional<int> last_count(pid_t process) const;
  /// The effective user of a process, known or not; `no_user` if there is none with this pid.
  [[nodiscard]] user_id effective_user(pid_t process) const;
  /// The threads of a known process, the leader first.
  [[nodiscard]] std::vector<pid_t> list(pid_t process) const;

 private:
  struct folder {
    unique_fd tasks;
    unique_fd end;  ///< a pidfd
    std::optional<std::uint64_t> start_time;
    int last_count = 0;
  };
  [[nodiscard]] folder* open(pid_t process);

  std::unordered_map<pid_t, folder> all_;
  std::size_t most_ = 0;
};

}  // namespace mpiacq::tracing
