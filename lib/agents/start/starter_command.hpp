// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Commands that start agents on nodes: the site's own, srun or ssh.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/ranks/agent.hpp"
#include "mpiacq/ranks/agents_options.hpp"

namespace mpiacq::agents {

/// A command of srun or ssh. It runs for as long as its agents do.
class starter_command {
 public:
  /// Runs it in a process group of its own, so that the terminal's signals do not reach it, with /dev/null as standard
  /// input. Errors: not_found (no such program in PATH); system.
  [[nodiscard]] static result<std::unique_ptr<starter_command>> run(std::vector<std::string> arguments,
                                                                    std::vector<std::string> hosts);
  /// Waits until the command has ended, for two seconds; then ends it.
  ~starter_command();
  starter_command(const starter_command&) = delete;
  starter_command& operator=(const starter_command&) = delete;

  /// The hosts on which it starts agents.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  /// Ends the command: the caller waits no longer for its agents.
  void abandon();
  /// Reads the command's output. True while the command runs.
  bool still_runs();
  /// "srun ended with status 1: ...", or the last output of a command that still runs.
  [[nodiscard]] std::string last_message() const;

 private:
  starter_command() = default;
  void take_output();
  bool wait_for_end(int limit_ms);
  std::string program_;
  std::vector<std::string> hosts_;
  pid_t child_ = -1;
  base::unique_fd output_;
  base::unique_fd process_;
  std::string output_text_;
  int status_ = 0;
  bool ended_ = false;
};

/// One srun command for all hosts.
[[nodiscard]] std::vector<std::string> slurm_command(const std::string& job_id, const std::vector<std::string>& hosts,
                                                     const std::string& program, const agent_order& order);
/// Whether a text can be the id of a Slurm job: a number, or two with '_' (a task of an array) or '+' (a component of a
/// heterogeneous job) between them. The text comes from another process's memory and goes into srun's command line.
[[nodiscard]] bool is_slurm_job_id(std::string_view text);

/// The ssh command for one host. Its words are quoted, because a remote shell reads them.
[[nodiscard]] std::vector<std::string> ssh_command(const std::string& host, const std::string& program,
                                                   const agent_order& order);

}  // namespace mpiacq::agents
