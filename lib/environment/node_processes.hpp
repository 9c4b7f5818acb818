// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "known_launchers.hpp"
#include "launcher_variables.hpp"
#include "proc/known_processes.hpp"

namespace mpiacq {

/// A process whose environment has the variables of a launcher.
struct stating_process {
  process_id pid;
  process_id parent;
  std::uint64_t start_time = 0;  ///< `process_stat::start_time`
  user_id user;                  ///< `process_facts::user`
  std::string executable;        ///< empty if it cannot be read
  launcher_program program;
  std::vector<launcher_statement> statements;  ///< of at least one launcher; texts are bounded
  bool is_spawned = false;
};

/// What the pass over the processes of a node reads of each process.
enum class node_pass : unsigned char {
  environments,             ///< one file
  environments_and_parents  ///< two files
};

/// The processes of this node, by one pass over /proc that reads the environment of each process and keeps little of
/// it. The other facts of a process are read only if its environment states something. Ancestors are read when they are
/// asked for, each once. On a node with many processes the pass uses several threads.
/// Threads: one at a time.
class node_processes {
 public:
  /// `proc`: for tests, a folder instead of /proc.
  explicit node_processes(const std::string& proc = proc_folder, node_pass pass = node_pass::environments);

  /// In the order of pids.
  [[nodiscard]] std::span<const stating_process> stating() const { return stating_; }
  /// Null if this process states nothing.
  [[nodiscard]] const stating_process* stating(process_id pid) const;
  /// The parent, which is read when it is first asked for; empty without a parent, for children of process 1, and for
  /// an unknown process.
  [[nodiscard]] std::optional<process_id> parent_of(process_id pid);
  /// Which program of which launcher the process runs.
  [[nodiscard]] launcher_program program_of(process_id pid);
  /// Null if there is no such process any more, or if it cannot be read.
  [[nodiscard]] std::shared_ptr<const process_facts> facts_of(process_id pid) { return known_.find(pid); }

  /// Processes that have children, in the order of pids. Empty unless the pass has read the parents.
  [[nodiscard]] const std::vector<process_id>& parents() const { return parents_; }
  /// In the order of pids. It reads one file of each process of the node.
  [[nodiscard]] std::vector<process_id> children_of(process_id pid) const;
  /// How many processes there are.
  [[nodiscard]] std::size_t count() const { return all_.size(); }
  /// How many of them this program may not look into.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  /// Chains of parents are followed no further than this.
  static constexpr std::size_t most_generations = 64;

 private:
  known_processes known_;
  std::string proc_;
  std::vector<process_id> all_;
  std::vector<stating_process> stating_;
  std::unordered_map<process_id, launcher_program> programs_;
  std::vector<process_id> parents_;
  std::size_t refused_ = 0;
};

/// The program of a launcher that a process runs: its executable, or the script or module that its interpreter runs. A
/// process whose executable may not be read is known by the name that the kernel shows.
[[nodiscard]] launcher_program launcher_program_of(const process_facts& process);

}  // namespace mpiacq
