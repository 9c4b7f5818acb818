// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The source `environment`: the jobs of this node, as the variables show them that launchers set.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "environment_world.hpp"
#include "node_processes.hpp"

namespace mpiacq {

/// A job, as far as its ranks on this node show it. All of them belong to one user.
struct environment_job {
  const known_launcher* launcher = nullptr;
  user_id user;
  /// Null if no process of this node has started the ranks, or if it has ended.
  std::shared_ptr<const process_facts> starter;
  /// The launcher's values for the job, in the order of `known_launcher::job`: Slurm's job and step. Empty: it has
  /// none.
  std::vector<std::string> id;
  std::vector<environment_world> worlds;  ///< at least one, with at least one rank each; the first is no spawned one
  std::vector<error> problems;

  /// The lowest rank of the first world.
  [[nodiscard]] const environment_rank& first_rank() const { return worlds.front().ranks.front(); }
  [[nodiscard]] std::size_t ranks_here() const;
  /// Empty if a world does not state its size.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
};

/// What a process is to a job.
struct environment_match {
  const environment_job* job = nullptr;
  std::string how;  ///< "is rank 3 of", "has started"; empty: it is the job's starter
};

/// The jobs of this node at one moment. Threads: one at a time.
class environment_jobs {
 public:
  /// `proc`: for tests, a folder instead of /proc. `pass`: what `node` knows of all processes.
  explicit environment_jobs(const std::string& proc = proc_folder, node_pass pass = node_pass::environments);

  /// In the order of the pids of their first ranks.
  [[nodiscard]] const std::vector<environment_job>& all() const { return jobs_; }
  [[nodiscard]] node_processes& node() { return node_; }

  /// The job that a process belongs to. In this order: the process is a rank; it is the starter of one job alone; ranks
  /// of one job alone descend from it; it descends from a rank. Empty if there is none. Error: invalid_argument
  /// (several jobs descend from it; the sentence names them).
  [[nodiscard]] result<std::optional<environment_match>> job_of(process_id named);
  /// Whether `process` is `ancestor`, or descends from it.
  [[nodiscard]] bool descends(process_id process, process_id ancestor);
  /// Whether `process` descends from a rank of the job, or is one: it cannot be what its user looks for.
  [[nodiscard]] bool is_inside(process_id process, const environment_job& job);

 private:
  node_processes node_;
  std::vector<environment_job> jobs_;
};

}  // namespace mpiacq
