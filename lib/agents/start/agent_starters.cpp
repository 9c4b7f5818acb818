// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/agent_starters.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

result<void> agent_starters::run(std::vector<std::string> line, std::vector<std::string> hosts) {
  commands_.push_back(TRY(starter_command::run(std::move(line), std::move(hosts))));
  return {};
}

result<void> agent_starters::by_slurm(const std::string& job_id, const std::vector<std::string>& hosts,
                                      const std::string& program, const agent_order& order) {
  return run(slurm_command(job_id, hosts, program, order), hosts);
}

result<void> agent_starters::by_ssh(const std::vector<std::string>& hosts, const std::string& program,
                                    const agent_order& order) {
  for (const std::string& host : hosts) waiting_.push_back({host, ssh_command(host, program, order)});
  if (waiting_.empty()) return {};
  // If the first command cannot run, none can.
  host_to_reach first = std::move(waiting_.front());
  waiting_.pop_front();
  auto begun = run(std::move(first.line), {first.host});
  if (!begun) waiting_.clear();
  return begun;
}

void agent_starters::run_more(std::size_t count) {
  for (; count != 0 && !waiting_.empty(); --count) {
    host_to_reach next = std::move(waiting_.front());
    waiting_.pop_front();
    if (auto begun = run(std::move(next.line), {next.host}); !begun) failed_[next.host] = begun.error().message;
  }
}

bool agent_starters::has_pending(const std::function<bool(const std::string& host)>& has_arrived) {
  std::size_t pending = 0;
  // `still_runs` also reads the command's output, so that it is called for all of them.
  for (const auto& command : commands_) {
    const bool runs = command->still_runs();
    if (runs && !std::all_of(command->hosts().begin(), command->hosts().end(), has_arrived)) ++pending;
  }
  const std::size_t before = commands_.size();
  if (pending < most_at_once) run_more(most_at_once - pending);
  return pending != 0 || commands_.size() != before || !waiting_.empty();
}

std::string agent_starters::give_up(const std::string& host) {
  std::string words;
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.host == host; });
  if (waits != waiting_.end()) {
    waiting_.erase(waits);
    return fmt::format("its turn has not come: {} hosts are connected to at a time", most_at_once);
  }
  if (const auto failure = failed_.find(host); failure != failed_.end()) return failure->second;
  for (const auto& command : commands_) {
    const auto& hosts = command->hosts();
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) continue;
    words = command->last_message();
    if (hosts.size() == 1) command->abandon();
  }
  return words;
}

}  // namespace mpiacq::agents
