// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/ids.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

/// Questions about one fact of a process of this node, which is read anew at each call. A caller that needs several
/// facts reads `process_facts` once and passes it on.

/// Errors: process_gone; limit (this program has no file descriptor left); permission; system.
[[nodiscard]] result<process_stat> stat_of(process_id pid);
/// `unknown` if /proc cannot be read, for example because this program has no file descriptor left.
[[nodiscard]] run_state state_of(process_id pid);

/// Whether a signal has stopped the process, or a SIGSTOP is on its way to it. False if that cannot be read.
[[nodiscard]] bool is_stopped_by_signal(process_id pid);

/// The file that the process executes (/proc/PID/exe), without " (deleted)"; empty if it cannot be read.
[[nodiscard]] std::string executable_of(process_id pid);

/// Whether two paths end in the same name: starters publish the path that they were given, which may be a link or a
/// name without a folder.
[[nodiscard]] bool is_same_program(std::string_view a, std::string_view b);
/// Whether a process that executes `running` runs the program that a table names; false if either is not known.
[[nodiscard]] bool runs_program(std::string_view running, std::string_view executable);
/// Whether the process that has this number now runs the program that a table names.
[[nodiscard]] bool runs_program(process_id pid, std::string_view executable);

/// Empty if there is no such process.
[[nodiscard]] std::optional<process_id> parent_of(process_id pid);

/// The children of all its threads; empty on a kernel without CONFIG_PROC_CHILDREN.
[[nodiscard]] std::vector<process_id> children_of(process_id pid);

/// The page faults of all children that have ended and been waited for. No program runs without a page fault, so this
/// number grows with each child, however short its life.
[[nodiscard]] std::uint64_t faults_of_ended_children(process_id pid);

/// Whether `child` was forked by `parent`, or both by the same process, and has executed no other program since: the
/// arguments and the environment of both are at the same addresses and are the same. False if that cannot be read.
[[nodiscard]] bool is_copy_of(const process_facts& child, const process_facts& parent);

/// One variable of the environment that the process was started with; empty if it is not there or cannot be read.
[[nodiscard]] std::optional<std::string> environment_of(process_id pid, std::string_view variable);

/// A pidfd: it refers to the same process even after the number has gone to another process. Closed if there is no such
/// process.
[[nodiscard]] base::unique_fd open_process(process_id pid);
/// Whether the process of a pidfd has not ended; true also for a closed descriptor.
[[nodiscard]] bool is_alive(const base::unique_fd& process);
/// Sends a signal to the process of a pidfd; does nothing if the process has ended or the descriptor is closed.
void signal_process(const base::unique_fd& process, int signal);

}  // namespace mpiacq
