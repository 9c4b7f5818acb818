// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_agents.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "node_match.hpp"
#include "programs.hpp"

namespace mpiacq::agents {

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

node_agents::node_agents(agents_options options) : options_(std::move(options)) {}
node_agents::~node_agents() = default;

result<void> node_agents::listen() {
  auto opened = front_end::open({std::max(options_.fan_out, 2U), options_.munge_socket, options_.secret_folder, false},
                                [this](const node_names& names, std::uint32_t) { return place(names); });
  if (!opened) return fail(std::move(opened).error());
  front_ = std::move(*opened);
  return {};
}

void node_agents::expect_no_more() {
  if (front_) front_->expect_no_more();
}

void node_agents::reach(std::vector<agent_node> nodes) {
  const std::size_t first = nodes_.size();
  std::vector<std::string> wanted;
  for (agent_node& node : nodes) {
    nodes_.push_back({std::move(node.host), std::move(node.ranks), false, std::nullopt});
    known_node& added = nodes_.back();
    if (options_.start == agent_start::none) {
      added.why = error{error_code::unsupported, "it is on another node, and no agent was to be started there"};
    } else if (!is_plain_name(added.host)) {
      added.why = error{error_code::bad_format, fmt::format("'{}' is no name of a host", added.host)};
    } else {
      wanted.push_back(added.host);
    }
  }
  if (wanted.empty()) return;
  result<void> begun;
  if (!front_) begun = listen();
  if (begun) begun = start(wanted);
  if (begun) wait_for(node_of_agent_.size() + wanted.size());
  for (std::size_t i = first; i < nodes_.size(); ++i) {
    known_node& node = nodes_[i];
    if (node.has_agent || node.why) continue;
    // Whoever can be looked at without agents is; what keeps all of them from starting is these nodes' reason.
    if (begun) {
      note_missing(node);
    } else {
      node.why = begun.error();
    }
  }
}

std::optional<std::vector<rank_process>> node_agents::place(const node_names& names) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    known_node& node = nodes_[i];
    if (node.has_agent || !is_called(names, node.host)) continue;
    node_of_agent_.push_back(i);
    node.has_agent = true;
    node.why.reset();
    return std::exchange(node.ranks, {});
  }
  return std::nullopt;
}

result<void> node_agents::start(const std::vector<std::string>& hosts) {
  const auto program = agent_program(options_.program);
  if (!program) return fail(program.error());
  const bool by_slurm =
      options_.start == agent_start::slurm || (options_.start == agent_start::automatic && !options_.job_id.empty());
  if (!by_slurm) return starters_.by_ssh(hosts, *program, front_->order());
  if (options_.job_id.empty())
    return fail(error_code::not_found, "agents cannot be started by Slurm: the job does not say its id");
  return starters_.by_slurm(options_.job_id, hosts, *program, front_->order());
}

bool node_agents::has_come(const std::string& host) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const known_node& node) { return node.has_agent && node.host == host; });
}

void node_agents::wait_for(std::size_t wanted) {
  const deadline until = clock::now() + options_.start_limit;
  for (;;) {
    const std::size_t arrived = node_of_agent_.size();
    if (options_.progress) options_.progress({wanted, arrived, 0});
    if (arrived == wanted || clock::now() >= until || can_be_read(options_.stop)) return;
    if (!starters_.may_bring([this](const std::string& host) { return has_come(host); })) return;
    front_->turn(std::min(until, clock::now() + between_looks));
  }
}

void node_agents::note_missing(known_node& node) {
  std::string words = starters_.give_up(node.host);
  if (words.empty()) words = front_->door().last_refusal();
  node.why = error{error_code::timed_out, fmt::format("no agent has come from {} within {} s{}{}", node.host,
                                                      std::chrono::duration<double>(options_.start_limit).count(),
                                                      words.empty() ? "" : "; ", words)};
}

void node_agents::ask(question what) {
  if (front_) front_->ask(std::move(what), options_.answer_limit);
}

std::optional<answer_body> node_agents::collect_any() {
  if (!front_) return std::nullopt;
  gathered all = front_->collect();
  for (const std::size_t node : node_of_agent_) nodes_[node].why.reset();
  for (agent_problem& missing : all.missing) {
    if (missing.agent == 0 || missing.agent > node_of_agent_.size()) continue;
    known_node& node = nodes_[node_of_agent_[missing.agent - 1]];
    node.why = std::move(missing.why).while_doing(node.host);
  }
  return std::move(all.what);
}

}  // namespace mpiacq::agents
