// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// What /proc says of a process of this node, without touching it.
enum class run_state : unsigned char { running, stopped, traced, gone, unknown };

/// A zombie is gone: nothing is left of it but its status. Unknown: /proc cannot be read (no descriptor is left).
[[nodiscard]] run_state state_of(process_id pid);

/// The file it executes, by /proc/PID/exe; " (deleted)" is taken off. Empty where that may not be read.
[[nodiscard]] std::string executable_of(process_id pid);

/// Whether two paths end in the same name: starters publish what they were given, with links and without a folder.
[[nodiscard]] bool is_same_program(std::string_view a, std::string_view b);
/// Whether a number still is the process that a table means: it may have gone to another since. As far as the name of
/// what it runs tells; false where no name is given, or what it runs may not be known.
[[nodiscard]] bool runs_program(process_id pid, std::string_view executable);

/// Its parent; empty where it has gone.
[[nodiscard]] std::optional<process_id> parent_of(process_id pid);

/// Its children, of all its threads; what the kernel does not say (CONFIG_PROC_CHILDREN) is not among them.
[[nodiscard]] std::vector<process_id> children_of(process_id pid);

/// The page faults of all children that have ended and been waited for: no program runs without one, so the number
/// grows with each that was there, however short a time.
[[nodiscard]] std::uint64_t faults_of_ended_children(process_id pid);

/// Whether `child` was forked by `parent`, or both by the same, and has not exec'ed since: the kernel put the arguments
/// and the environment of both to the same place, and they are the same. False where that may not be read.
[[nodiscard]] bool is_copy_of(process_id child, process_id parent);

/// One variable of the environment that it was started with; empty where it is not there or may not be read.
[[nodiscard]] std::optional<std::string> environment_of(process_id pid, std::string_view variable);

/// A pidfd: it stays this process even when its number has gone to another. Closed where there is no such process.
[[nodiscard]] base::unique_fd open_process(process_id pid);
/// Whether the process of a pidfd has not ended. True of a descriptor that is closed: nobody knows then.
[[nodiscard]] bool is_alive(const base::unique_fd& process);
/// Sends a signal to the process of a pidfd; nothing where that has ended, or the descriptor is closed.
void signal_process(const base::unique_fd& process, int signal);

}  // namespace mpiacq
