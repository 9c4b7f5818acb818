// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes a child that waits until it is attached and then execs; explains an exec that failed.
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

/// The paths that a program's name stands for, in the order in which they are tried: the name itself if it has a slash,
/// otherwise one path for each directory of `search_path` (PATH), as execvp does.
[[nodiscard]] std::vector<std::string> program_candidates(const std::string& name,
                                                          const std::optional<std::string>& search_path);

struct exec_plan {
  std::vector<std::string> candidates;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  const launch_surroundings& surroundings;
  std::span<const unique_fd> descriptors;  ///< the working directory first
  pid_t guard = 0;  ///< the pid of the guard, which may trace the child, too (guard.hpp); 0: no guard
};

/// The child's report if no candidate could be executed.
struct exec_failure {
  int errno_value = 0;
  int candidate = 0;  ///< the index of the candidate to which the errno belongs
};

/// A forked child that blocks until `go` is written to, and then execs.
struct waiting_child {
  pid_t id = 0;
  unique_fd go;       ///< if it is closed without a byte, the child runs, too, and so survives the tracer server
  unique_fd failure;  ///< an exec_failure, or the end of the pipe if the exec succeeded
};

[[nodiscard]] result<waiting_child> fork_child(const exec_plan& plan);
/// Lets the child continue to its exec.
void release_child(waiting_child& child);
/// Empty if the exec succeeded.
[[nodiscard]] std::optional<exec_failure> read_exec_failure(const unique_fd& from);

/// Whether the file is a text that execvp would pass to /bin/sh.
[[nodiscard]] bool is_shell_text(const std::string& path);
/// The error if `name` cannot be executed: not_found, permission or exec_failed.
[[nodiscard]] error exec_error(const std::string& name, const std::vector<std::string>& candidates,
                               const exec_failure& failure);

}  // namespace mpiacq::tracing
