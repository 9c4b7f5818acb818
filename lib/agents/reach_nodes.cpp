// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How the agents of a job's other nodes come, and what becomes of those that do not.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "job_ranks_state.hpp"
#include "node_match.hpp"
#include "programs.hpp"

namespace mpiacq {

namespace {

/// How often starters are looked after while agents are waited for.
constexpr std::chrono::milliseconds between_looks{100};

/// The agent's file here: nodes have it at the same path.
result<std::string> agent_program(const std::string& named) {
  const auto candidates = helper::program_candidates("mpiacq-agent", named);
  for (const std::string& path : candidates) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(helper::not_startable("the agent", candidates, ENOENT));
}

/// A name that would be an option, or several words, of the command that gets it.
bool is_plain_name(const std::string& host) {
  return !host.empty() && host.front() != '-' && std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == ':';
  });
}

bool can_be_read(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&one, 1, 0) > 0;
}

}  // namespace

void job_ranks::state::reach_others() {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].local || nodes[i].why) continue;
    if (options.agents.start == agent_start::none) {
      nodes[i].why = error{error_code::unsupported, "it is on another node, and no agent was to be started there"};
    } else if (!is_plain_name(nodes[i].host)) {
      nodes[i].why = error{error_code::bad_format, fmt::format("'{}' is no name of a host", nodes[i].host)};
    } else {
      wanted.push_back(i);
    }
  }
  if (wanted.empty()) return;
  auto begun = listen();
  if (begun) begun = start_agents(wanted);
  if (begun) {
    wait_for(wanted);
    note_missing(wanted);
    front->expect_no_more();
    return;
  }
  // Whoever can be looked at here is; the others have this for their reason.
  for (const std::size_t node : wanted) nodes[node].why = begun.error();
}

result<void> job_ranks::state::listen() {
  const agents_options& how = options.agents;
  auto opened =
      agents::front_end::open({std::max(how.fan_out, 2U), how.munge_socket, how.secret_folder, false},
                              [this](const agents::node_names& names, std::uint32_t) { return place(names); });
  if (!opened) return fail(std::move(opened).error());
  front = std::move(*opened);
  return {};
}

std::optional<std::vector<rank_process>> job_ranks::state::place(const agents::node_names& names) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].local || has_agent(i) || !agents::is_called(names, nodes[i].host)) continue;
    node_of_agent.push_back(i);
    nodes[i].why.reset();
    return ranks_of(i);
  }
  return std::nullopt;
}

bool job_ranks::state::has_agent(std::size_t node) const {
  return std::find(node_of_agent.begin(), node_of_agent.end(), node) != node_of_agent.end();
}

bool job_ranks::state::all_have_agents(const std::vector<std::string>& hosts) const {
  return std::all_of(nodes.begin(), nodes.end(), [&](const job_node& node) {
    const bool meant = std::find(hosts.begin(), hosts.end(), node.host) != hosts.end();
    return !meant || has_agent(static_cast<std::size_t>(&node - nodes.data()));
  });
}

result<void> job_ranks::state::start_agents(const std::vector<std::size_t>& wanted) {
  const agents_options& how = options.agents;
  const auto program = agent_program(how.program);
  if (!program) return fail(program.error());
  const agent_order order = front->order();
  std::vector<std::string> hosts;
  for (const std::size_t node : wanted) hosts.push_back(nodes[node].host);
  const bool by_slurm = how.start == agent_start::slurm || (how.start == agent_start::automatic && !how.job_id.empty());
  if (by_slurm && how.job_id.empty())
    return fail(error_code::not_found, "agents cannot be started by Slurm: the job does not say its id");
  if (by_slurm) {
    auto started = agents::starter_command::run(agents::slurm_command(how.job_id, hosts, *program, order), hosts);
    if (!started) return fail(std::move(started).error());
    starters.push_back(std::move(*started));
    return {};
  }
  for (const std::string& host : hosts) {
    auto started = agents::starter_command::run(agents::ssh_command(host, *program, order), {host});
    if (!started) return fail(std::move(started).error());
    starters.push_back(std::move(*started));
  }
  return {};
}

void job_ranks::state::wait_for(const std::vector<std::size_t>& wanted) {
  const agents_options& how = options.agents;
  const deadline until = clock::now() + how.start_limit;
  for (;;) {
    const std::size_t arrived = node_of_agent.size();
    if (how.progress) how.progress({wanted.size(), arrived, 0});
    if (arrived == wanted.size() || clock::now() >= until || can_be_read(how.stop)) return;
    bool one_may_come = false;
    // Neither srun nor ssh ends before its agents.
    for (const auto& starter : starters)
      one_may_come = (starter->still_runs() && !all_have_agents(starter->hosts())) || one_may_come;
    if (!one_may_come) return;
    front->turn(std::min(until, clock::now() + between_looks));
  }
}

void job_ranks::state::note_missing(const std::vector<std::size_t>& wanted) {
  for (const std::size_t node : wanted) {
    if (has_agent(node)) continue;
    std::string words;
    for (const auto& starter : starters) {
      const auto& hosts = starter->hosts();
      if (std::find(hosts.begin(), hosts.end(), nodes[node].host) == hosts.end()) continue;
      words = starter->last_words();
      if (hosts.size() == 1) starter->abandon();
    }
    const std::string& refusal = front->door().last_refusal();
    if (words.empty() && !refusal.empty()) words = refusal;
    nodes[node].why =
        error{error_code::timed_out, fmt::format("no agent has come from {} within {} s{}{}", nodes[node].host,
                                                 std::chrono::duration<double>(options.agents.start_limit).count(),
                                                 words.empty() ? "" : "; ", words)};
  }
}

void job_ranks::state::ask(agents::question what) {
  if (front) front->ask(std::move(what), options.agents.answer_limit);
}

std::optional<agents::answer_body> job_ranks::state::collect_any() {
  if (!front) return std::nullopt;
  agents::gathered all = front->collect();
  for (const std::size_t node : node_of_agent) nodes[node].why.reset();
  for (agents::agent_problem& missing : all.missing) {
    if (missing.agent == 0 || missing.agent > node_of_agent.size()) continue;
    job_node& node = nodes[node_of_agent[missing.agent - 1]];
    node.why = std::move(missing.why).while_doing(node.host);
  }
  return std::move(all.what);
}

error job_ranks::state::why_not(std::size_t node) const {
  return nodes[node].why.value_or(error{error_code::system, "its node says nothing of it"});
}

error job_ranks::state::why_missing(std::size_t place) const {
  return why_not(node_of_rank[place]);
}

std::vector<refused_ranks> job_ranks::state::missing_of(const rank_selection& which, const rank_set& told) const {
  std::vector<refused_ranks> all;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    rank_set missing;
    for (const rank_process& rank : ranks) {
      if (nodes[node].ranks.contains(rank.rank) && which.contains(rank.rank) && !told.contains(rank.rank))
        missing.add(rank.rank);
    }
    if (!missing.empty()) all.push_back({std::move(missing), why_not(node)});
  }
  return all;
}

}  // namespace mpiacq
