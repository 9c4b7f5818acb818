// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Commands that start the agents of some nodes, and what they say of those that do not come.
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

class agent_starters {
 public:
  /// One step of that job, an agent on each of these hosts. Errors as `starter_command::run`.
  [[nodiscard]] result<void> by_slurm(const std::string& job_id, const std::vector<std::string>& hosts,
                                      const std::string& program, const agent_order& order);
  /// A command for each host, `most_beginning` at a time until their agents have come or they have ended: connections
  /// are set up in one place, and a site's ssh server or address book is not to be flooded. `may_bring` runs the next.
  [[nodiscard]] result<void> by_ssh(const std::vector<std::string>& hosts, const std::string& program,
                                    const agent_order& order);

  /// Whether one of them still runs whose agents have not all come: neither srun nor ssh ends before its agents.
  [[nodiscard]] bool may_bring(const std::function<bool(const std::string& host)>& has_come);
  /// Nobody waits for this host's agent any more. What was said of it last; may be empty.
  [[nodiscard]] std::string give_up(const std::string& host);

  static constexpr std::size_t most_beginning = 32;

 private:
  struct host_to_reach {
    std::string host;
    std::vector<std::string> line;
  };
  void run_more(std::size_t begin_now);
  [[nodiscard]] result<void> run(std::vector<std::string> line, std::vector<std::string> hosts);
  std::vector<std::unique_ptr<starter_command>> commands_;
  std::deque<host_to_reach> waiting_;          ///< for their turn
  std::map<std::string, std::string> failed_;  ///< hosts whose command could not be run, and why
};

}  // namespace mpiacq::agents
