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
#include "mpiacq/ranks/job_ranks.hpp"

namespace mpiacq::agents {

/// One command that runs for as long as its agents do.
class starter_command {
 public:
  /// In a process group of its own, so that the terminal's signals are ours to deal with; standard input is /dev/null.
  /// not_found: no such program in PATH.
  [[nodiscard]] static result<std::unique_ptr<starter_command>> run(std::vector<std::string> arguments,
                                                                    std::vector<std::string> hosts);
  /// Waits until it has ended, two seconds at most; then it is ended.
  ~starter_command();
  starter_command(const starter_command&) = delete;
  starter_command& operator=(const starter_command&) = delete;

  /// The nodes that it is for.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  /// Nobody waits for its agents any more.
  void abandon();
  /// Takes what it has said. True while it runs.
  bool still_runs();
  /// "srun ended with status 1: ..."; what it said last, where it still runs.
  [[nodiscard]] std::string last_words() const;

 private:
  starter_command() = default;
  void take_output();
  bool wait_for_end(int limit_ms);
  std::string program_;
  std::vector<std::string> hosts_;
  pid_t child_ = -1;
  base::unique_fd output_;
  base::unique_fd process_;
  std::string said_;
  int status_ = 0;
  bool ended_ = false;
};

/// srun for all of them at once.
[[nodiscard]] std::vector<std::string> slurm_command(const std::string& job_id, const std::vector<std::string>& hosts,
                                                     const std::string& program, const agent_order& order);
/// Whether a text can be the id of a job of Slurm: a number, or two with '_' (an array's task) or '+' (a heterogeneous
/// job's part) between them. It comes out of another process's memory, and goes into srun's command line.
[[nodiscard]] bool is_slurm_job_id(std::string_view text);

/// ssh for one of them. A remote shell reads the words: they are quoted for it.
[[nodiscard]] std::vector<std::string> ssh_command(const std::string& host, const std::string& program,
                                                   const agent_order& order);

}  // namespace mpiacq::agents
