// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The programs that the library starts for itself: their paths, and how they are started.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spawn.h>
#include <sys/types.h>

#include "mpiacq/base/error.hpp"

namespace mpiacq::base {

/// The paths at which a program of the library is looked for. If the caller named one: only that one. Otherwise: the
/// folder in the environment (MPIACQ_LIBEXEC), then the place relative to the file with this code, as `cmake --install`
/// puts it, then the original place of the installation.
[[nodiscard]] std::vector<std::string> program_candidates(std::string_view program, const std::string& named);

/// The error if no candidate can be started. `what_for`: for example "the program that traces for this one".
[[nodiscard]] error not_startable(std::string_view what_for, const std::vector<std::string>& candidates,
                                  int errno_value);

/// The attributes and file actions for posix_spawn; the destructor frees them.
class spawn_plan {
 public:
  spawn_plan();
  ~spawn_plan();
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  /// The program starts with all signals blocked and all dispositions default. The kernel sends no SIGCHLD to a process
  /// that ignores it.
  void block_signals();
  /// The program starts with no signal blocked and all dispositions default.
  void default_signals();
  /// The program starts in its own process group, so that it gets no signals from the terminal.
  void own_group();
  void open(int descriptor, const char* path, int flags);
  /// Gives the program a descriptor. `from` must be above all numbers that the program gets, because those are
  /// overwritten one after the other.
  void give(int descriptor, int from);
  /// Starts the first candidate that exists. Returns 0 or an errno. The arguments begin with the program's name, as
  /// `ps` shows it. `environment` ends with a null pointer.
  [[nodiscard]] int run(pid_t& id, const std::vector<std::string>& candidates, std::vector<std::string> arguments,
                        char* const* environment);
  /// As `run`, for a program from PATH whose name is the first argument.
  [[nodiscard]] int run_from_path(pid_t& id, std::vector<std::string> arguments, char* const* environment);

 private:
  void set_signals(bool blocked);
  void add_flags(short flags);
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace mpiacq::base
