// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes a child that waits to be attached to and then execs, and explains an exec that failed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "kernel/proc_files.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/process/tracer.hpp"
#include "wire/launch_surroundings.hpp"

namespace mpiacq::tracing {

/// The paths that a program's name stands for, in the order in which they are tried: itself where it has a slash, else
/// one for each directory of `search_path` (PATH), as execvp does.
[[nodiscard]] std::vector<std::string> program_candidates(const std::string& name,
                                                          const std::optional<std::string>& search_path);

struct exec_plan {
  std::vector<std::string> candidates;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  const launch_surroundings& surroundings;
  std::span<const unique_fd> descriptors;  ///< the working directory first
  pid_t guard = 0;                         ///< may trace the child, too (guard.hpp); 0: there is none
};

/// What the child reports where no candidate could be run.
struct exec_failure {
  int errno_value = 0;
  int candidate = 0;  ///< the candidate that the errno is about
};

/// A forked child that blocks until `go` is written to, and then execs.
struct waiting_child {
  pid_t id = 0;
  unique_fd go;       ///< closing it without a byte lets the child run too, so that it survives the tracing process
  unique_fd failure;  ///< gives an exec_failure, or ends empty where the exec worked
};

[[nodiscard]] result<waiting_child> fork_child(const exec_plan& plan);
/// Lets the child go on to its exec.
void release_child(waiting_child& child);
/// Empty where the exec worked.
[[nodiscard]] std::optional<exec_failure> read_exec_failure(const unique_fd& from);

/// The file is a text that execvp would give to /bin/sh.
[[nodiscard]] bool is_shell_text(const std::string& path);
/// Why `name` could not be run: not_found, permission or exec_failed.
[[nodiscard]] error exec_error(const std::string& name, const std::vector<std::string>& candidates,
                               const exec_failure& failure);

}  // namespace mpiacq::tracing
