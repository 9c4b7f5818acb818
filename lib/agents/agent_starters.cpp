// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "agent_starters.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq::agents {

result<void> agent_starters::run(std::vector<std::string> line, std::vector<std::string> hosts) {
  auto started = starter_command::run(std::move(line), std::move(hosts));
  if (!started) return fail(std::move(started).error());
  commands_.push_back(std::move(*started));
  return {};
}

result<void> agent_starters::by_slurm(const std::string& job_id, const std::vector<std::string>& hosts,
                                      const std::string& program, const agent_order& order) {
  return run(slurm_command(job_id, hosts, program, order), hosts);
}

result<void> agent_starters::by_ssh(const std::vector<std::string>& hosts, const std::string& program,
                                    const agent_order& order) {
  for (const std::string& host : hosts) {
    if (auto begun = run(ssh_command(host, program, order), {host}); !begun) return begun;
  }
  return {};
}

bool agent_starters::may_bring(const std::function<bool(const std::string& host)>& has_come) const {
  bool some_may = false;
  // All are looked after, for each look takes what one has said.
  for (const auto& command : commands_) {
    const bool runs = command->still_runs();
    some_may = some_may || (runs && !std::all_of(command->hosts().begin(), command->hosts().end(), has_come));
  }
  return some_may;
}

std::string agent_starters::give_up(const std::string& host) {
  std::string words;
  for (const auto& command : commands_) {
    const auto& hosts = command->hosts();
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) continue;
    words = command->last_words();
    if (hosts.size() == 1) command->abandon();
  }
  return words;
}

}  // namespace mpiacq::agents
