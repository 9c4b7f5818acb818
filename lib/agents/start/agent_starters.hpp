// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The commands that start the agents of several nodes, and their messages about agents that do not arrive.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mpiacq/ranks/agent.hpp"
#include "start/starter_command.hpp"

namespace mpiacq::agents {

/// The commands of srun and ssh that start agents. They run for as long as their agents.
class agent_starters {
 public:
  /// Starts one step of that job with an agent on each host. Errors: as `starter_command::run`.
  [[nodiscard]] result<void> by_slurm(const std::string& job_id, const std::vector<std::string>& hosts,
                                      const std::string& program, const agent_order& order);
  /// Starts a command for each host. At most `most_at_once` wait for their agents at a time, so that they do not
  /// overload a site's ssh or name servers. `has_pending` starts the next ones. Errors: as `starter_command::run`, if
  /// the first command cannot run.
  [[nodiscard]] result<void> by_ssh(const std::vector<std::string>& hosts, const std::string& program,
                                    const agent_order& order);

  /// Whether more agents may arrive: a command runs whose agents have not all arrived, or hosts wait for their turn.
  [[nodiscard]] bool has_pending(const std::function<bool(const std::string& host)>& has_arrived);
  /// The caller waits no longer for this host's agent. Returns the last message about it; may be empty.
  [[nodiscard]] std::string give_up(const std::string& host);

  static constexpr std::size_t most_at_once = 32;

 private:
  struct host_to_reach {
    std::string host;
    std::vector<std::string> line;
  };
  void run_more(std::size_t count);
  [[nodiscard]] result<void> run(std::vector<std::string> line, std::vector<std::string> hosts);
  std::vector<std::unique_ptr<starter_command>> commands_;
  std::deque<host_to_reach> waiting_;          ///< hosts whose command has not been started yet
  std::map<std::string, std::string> failed_;  ///< hosts whose command cannot run, and why
};

}  // namespace mpiacq::agents
