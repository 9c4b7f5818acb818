// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The programs that the library starts for itself: where they are, and how they begin.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spawn.h>
#include <sys/types.h>

#include "mpiacq/base/error.hpp"

namespace mpiacq::base {

/// Where a program of ours is looked for: what the caller named, if anything, and nowhere else; or the folder that the
/// environment names (MPIACQ_LIBEXEC), then beside the file that this code is in, as `cmake --install` puts it, then
/// where it was installed first.
[[nodiscard]] std::vector<std::string> program_candidates(std::string_view program, const std::string& named);

/// None of them can be started. `what_for`: "the program that traces for this one".
[[nodiscard]] error not_startable(std::string_view what_for, const std::vector<std::string>& candidates,
                                  int errno_value);

/// What is set up for posix_spawn, and given back after it.
class spawn_plan {
 public:
  spawn_plan();
  ~spawn_plan();
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  /// Every signal blocked from the first instruction on, and every disposition the default: the kernel sends no SIGCHLD
  /// to who ignores it.
  void block_signals();
  /// No signal blocked, every disposition the default.
  void default_signals();
  /// A process group of its own: the terminal's signals are not for it.
  void own_group();
  void open(int descriptor, const char* path, int flags);
  /// `from` must be above all numbers that it is given: those are overwritten in turn.
  void give(int descriptor, int from);
  /// The first of the candidates that is there. 0 or an errno. The arguments begin with the program's name, as `ps`
  /// will show it. `environment` ends with a null pointer.
  [[nodiscard]] int run(pid_t& id, const std::vector<std::string>& candidates, std::vector<std::string> arguments,
                        char* const* environment);
  /// The same of a program that is looked for in PATH, by the first of the arguments.
  [[nodiscard]] int run_from_path(pid_t& id, std::vector<std::string> arguments, char* const* environment);

 private:
  void set_signals(bool blocked);
  void add_flags(short flags);
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace mpiacq::base
