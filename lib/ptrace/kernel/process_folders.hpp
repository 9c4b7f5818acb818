// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes that are attached to again and again are known by their folders in /proc, which stay open.
//
// An open folder /proc/PID/task belongs to the process, not to its number: it is empty once the process has ended, also
// if another process gets the number. One fstat gives both whether the process is there and how many threads it has,
// for a sixth of the time that opening a file of it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "kernel/proc_files.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::tracing {

/// When a process was started (/proc/PID/stat, field 22); empty where there is none of the number.
[[nodiscard]] std::optional<std::uint64_t> read_start_time(pid_t process);

class process_folders {
 public:
  /// Opens the folder of the process of this number, or finds it known; a known process may have ended since.
  /// `start_time`: the process must have been started then. False where it was not, where there is no such process, or
  /// where its folder cannot be opened.
  [[nodiscard]] bool know(pid_t process, std::optional<std::uint64_t> start_time);
  /// Forgets the processes that have ended, with one system call for all.
  void drop_ended();
  void drop(pid_t process) { all_.erase(process); }
  /// How many threads the known process of this number has, including dead ones that were not waited for. Empty where
  /// it is not known, or has ended.
  [[nodiscard]] std::optional<int> count_threads(pid_t process);
  /// How many threads the last count gave; empty where the process is not known.
  [[nodiscard]] std::optional<int> last_count(pid_t process) const;
  /// The effective user of a process, known or not; `no_user` where there is none of the number.
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
