// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/agent_starters.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
  for (const std::string& host : hosts) waiting_.push_back({host, ssh_command(host, program, order)});
  if (waiting_.empty()) return {};
  // What keeps the first from running keeps all.
  host_to_reach first = std::move(waiting_.front());
  waiting_.pop_front();
  auto begun = run(std::move(first.line), {first.host});
  if (!begun) waiting_.clear();
  return begun;
}

void agent_starters::run_more(std::size_t begin_now) {
  for (; begin_now != 0 && !waiting_.empty(); --begin_now) {
    host_to_reach next = std::move(waiting_.front());
    waiting_.pop_front();
    if (auto begun = run(std::move(next.line), {next.host}); !begun) failed_[next.host] = begun.error().message;
  }
}

bool agent_starters::may_bring(const std::function<bool(const std::string& host)>& has_come) {
  std::size_t beginning = 0;
  // All are looked after, for each look takes what one has said.
  for (const auto& command : commands_) {
    const bool runs = command->still_runs();
    if (runs && !std::all_of(command->hosts().begin(), command->hosts().end(), has_come)) ++beginning;
  }
  const std::size_t had = commands_.size();
  if (beginning < most_beginning) run_more(most_beginning - beginning);
  return beginning != 0 || commands_.size() != had || !waiting_.empty();
}

std::string agent_starters::give_up(const std::string& host) {
  std::string words;
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.host == host; });
  if (waits != waiting_.end()) {
    waiting_.erase(waits);
    return fmt::format("its turn to be reached has not come: {} are set up at a time", most_beginning);
  }
  if (const auto failure = failed_.find(host); failure != failed_.end()) return failure->second;
  for (const auto& command : commands_) {
    const auto& hosts = command->hosts();
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) continue;
    words = command->last_words();
    if (hosts.size() == 1) command->abandon();
  }
  return words;
}

}  // namespace mpiacq::agents
