// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The numbers of processes in other pid namespaces (pid_namespaces(7)): a job in a container writes the numbers of its
// own namespace into its process table.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "proc/process_facts.hpp"

namespace mpiacq {

/// The pid namespace of a process, as this program sees it.
struct pid_namespace {
  std::uint64_t number = 0;  ///< of the link /proc/PID/ns/pid
  std::size_t depth = 0;     ///< 0: this program's own namespace; 1: a namespace that was made in it; and so on
  friend bool operator==(const pid_namespace&, const pid_namespace&) = default;
};
/// Empty if the process is in this program's namespace, or if the kernel does not show its namespace.
[[nodiscard]] std::optional<pid_namespace> inner_namespace_of(const process_facts& process);

/// The number of a process in that namespace; empty if the process is not in it.
[[nodiscard]] std::optional<process_id> pid_in(const pid_namespace& space, const process_facts& process);

/// Translates the numbers of a pid namespace into those that this program uses. Thread: one at a time.
class pid_translation {
 public:
  /// Looks at every process of this node once. `proc`: for tests, a folder instead of /proc.
  explicit pid_translation(const pid_namespace& space, const std::string& proc = proc_folder);

  /// Empty if the namespace has no such process.
  [[nodiscard]] std::optional<process_id> here(process_id there) const;

 private:
  std::unordered_map<process_id, process_id> here_;
};

/// Whether this program is in a pid namespace other than the first one: in a container, it does not see the processes
/// outside.
[[nodiscard]] bool in_inner_process_namespace();

}  // namespace mpiacq
