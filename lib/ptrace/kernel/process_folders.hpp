// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes that are attached to again and again, by their folders in /proc that stay open.
//
// A folder /proc/PID/task that is open belongs to that process, not to its number: when the process has ended it is
// empty, whoever gets the number. One fstat says both whether the process is there and how many threads it has, at a
// sixth of what it costs to open a file of it.
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
  /// Makes acquaintance with the process of this number, or remembers it, though it may have ended since. `start_time`:
  /// it must be the one that was started then. False where it cannot be looked at in this way, or is no process, or not
  /// that one.
  [[nodiscard]] bool know(pid_t process, std::optional<std::uint64_t> start_time);
  /// Forgets those that have ended: one call for all.
  void drop_ended();
  void drop(pid_t process) { all_.erase(process); }
  /// How many threads the process has that was made acquaintance with under this number, dead ones that nobody has
  /// waited for among them; empty where it is not known, or has ended.
  [[nodiscard]] std::optional<int> count_threads(pid_t process);
  /// How many there were when it was counted last; empty where it is not known.
  [[nodiscard]] std::optional<int> last_count(pid_t process) const;
  /// The effective user of a process, known or not; `no_user` where there is none of the number.
  [[nodiscard]] user_id effective_user(pid_t process) const;
  /// Them, the leader first.
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
