// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "remote/node_agents.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/programs.hpp"
#include "mpiacq/base/host_names.hpp"

namespace mpiacq::agents {

namespace {

/// The time between two checks of the start commands while agents are awaited.
constexpr std::chrono::milliseconds between_looks{100};
/// The same while mpiacq is attached to a starter, whose events must be handled.
constexpr std::chrono::milliseconds between_events{10};
/// The time in which a starter's first daemon must arrive, if there is another way to start agents.
constexpr std::chrono::seconds first_daemon_limit{10};
/// An agent arrives within this time after the daemon of PMIx that has started it has ended, unless its node is slow.
constexpr std::chrono::seconds agent_after_daemon_limit{2};
/// The time to wait for daemons on nodes that need no agent.
constexpr std::chrono::seconds sending_away_limit{1};
/// The number of nodes for which the start limit is meant.
constexpr std::size_t nodes_of_a_limit = 1024;
/// Until an agent has moved to its parent, it needs a connection here, with both ends of its continuation to libzmq. A
/// command that starts an agent has a pipe and a pidfd.
constexpr std::size_t descriptors_of_a_node = 5;

/// The path of the agent's file on this node; it is the same on all nodes.
result<std::string> agent_program(const std::string& named) {
  const auto candidates = base::program_candidates("mpiacq-agent", named);
  for (const std::string& path : candidates) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(base::not_startable("the agent", candidates, ENOENT));
}

/// The reason why root does not run ssh unless the user requests it: another user's process can name any host.
error no_ssh_for(const std::string& host, user_id user) {
  return {error_code::permission,
          fmt::format("no agent was started on {}: this program runs as root, and only a process of user {} names that "
                      "host; ssh is run only where it is asked for",
                      host, user.value())};
}

}  // namespace

node_agents::node_agents(agents_options options) : options_(std::move(options)) {}
node_agents::~node_agents() = default;

result<void> node_agents::listen() {
  auto opened = front_end::open(
      {std::max(options_.fan_out, 2U), options_.munge_socket, options_.secret_folder, false, options_.agents_live},
      [this](const node_names& names, std::uint32_t) { return assign_ranks(names); });
  if (!opened) return fail(std::move(opened).error());
  front_ = std::move(*opened);
  return {};
}

result<mpir::daemon_request> node_agents::listen_for_daemons() {
  const auto program = TRY(agent_program(options_.program));
  TRY(listen());
  daemons_come_ = true;
  return daemons_for(program, front_->order());
}

std::chrono::milliseconds node_agents::time_for(std::size_t nodes, std::chrono::milliseconds start_limit) {
  if (nodes <= nodes_of_a_limit) return start_limit;
  return std::chrono::duration_cast<std::chrono::milliseconds>(start_limit *
                                                               (static_cast<double>(nodes) / nodes_of_a_limit));
}

void node_agents::expect_no_more() {
  if (front_) front_->expect_no_more();
}

std::vector<agent_start> node_agents::ways() const {
  if (options_.start != agent_start::automatic) return {options_.start};
  std::vector<agent_start> all;
  if (daemons_come_ || options_.starter) all.push_back(agent_start::mpir);
  if (!options_.job_id.empty()) all.push_back(agent_start::slurm);
  if (names_are_foreign()) return all;
  all.push_back(agent_start::ssh);
  // The last one: jobs whose server has started daemons do not always end (docs/sources.md). Daemons run as the user of
  // the job. If this program runs as another user, they cannot prove that they belong to it.
  if (options_.pmix_server) all.push_back(agent_start::pmix);
  return all;
}

bool node_agents::names_are_foreign() const {
  return ::geteuid() == 0 && options_.user && *options_.user != user_id{0};
}

std::vector<std::size_t> node_agents::take_in(std::vector<agent_node> nodes) {
  std::vector<std::size_t> wanted;
  for (agent_node& node : nodes) {
    nodes_.push_back({std::move(node.host), std::move(node.ranks), 0, std::nullopt});
    known_node& added = nodes_.back();
    nodes_by_name_.add(nodes_.size() - 1, added.host);
    if (options_.start == agent_start::none) {
      added.why = error{error_code::unsupported, "it is on another node, and no agent was to be started there"};
    } else if (!is_host_name(added.host)) {
      added.why = error{error_code::bad_format, fmt::format("'{}' is no name of a host", added.host)};
    } else {
      wanted.push_back(nodes_.size() - 1);
    }
  }
  return wanted;
}

void node_agents::reach(std::vector<agent_node> nodes, std::size_t idle) {
  auto wanted = take_in(std::move(nodes));
  const deadline until = clock::now() + time_for(wanted.size(), options_.start_limit);
  descriptors_.reserve(descriptors_of_a_node * wanted.size());
  const auto all_ways = ways();
  for (const agent_start way : all_ways) {
    if (wanted.empty() || can_be_read(options_.stop)) break;
    // A starter does not report that it launches no daemons. A command reports a failure by its end.
    const bool is_by_daemons = way == agent_start::mpir || way == agent_start::pmix;
    const bool goes_on = is_by_daemons && way != all_ways.back();
    reach_by(way, wanted, goes_on ? std::min(until, clock::now() + first_daemon_limit) : until, until);
    const auto come = std::erase_if(wanted, [this](std::size_t node) { return nodes_[node].agent != 0; });
    // If this way starts some agents, another way would not start the missing ones.
    if (come != 0) break;
    if (goes_on) daemons_come_ = has_launched_ = false;
  }
  const bool is_without_ssh = options_.start == agent_start::automatic && names_are_foreign();
  for (const std::size_t number : wanted) {
    known_node& node = nodes_[number];
    if (node.agent != 0) continue;
    if (is_without_ssh) {
      error why = no_ssh_for(node.host, *options_.user);
      if (node.why) why.message += fmt::format("; before that: {}", node.why->message);
      node.why = std::move(why);
    } else if (!node.why) {
      node.why = error{error_code::timed_out, "ended before its agent was started"};
    }
  }
  send_away(idle);
  if (options_.progress) options_.progress({nodes_.size(), node_of_agent_.size(), true});
}

void node_agents::reach_by(agent_start way, const std::vector<std::size_t>& wanted, deadline first_by, deadline until) {
  const deadline begin = clock::now();
  std::vector<std::string> hosts;
  for (const std::size_t node : wanted) hosts.push_back(nodes_[node].host);
  result<void> begun;
  if (!front_) begun = listen();
  if (begun) begun = start(way, hosts);
  if (begun) wait_for(node_of_agent_.size() + wanted.size(), first_by, until);
  for (const std::size_t number : wanted) {
    known_node& node = nodes_[number];
    if (node.agent != 0) continue;
    // A failure to start all agents is not an error of this function, because the ranks of this node can still be
    // examined. It becomes the reason of each of these nodes.
    error why = begun ? missing(node, clock::now() - begin) : begun.error();
    if (node.why) why.message += fmt::format("; before that: {}", node.why->message);
    node.why = std::move(why);
  }
  if (asked_) asked_->detach();
  by_pmix_.reset();
}

std::optional<std::vector<rank_process>> node_agents::assign_ranks(const node_names& names) {
  for (const std::size_t i : nodes_by_name_.find(names)) {
    known_node& node = nodes_[i];
    if (node.agent != 0 || !is_called(names, node.host)) continue;
    agents_by_name_.add(node_of_agent_.size(), names);
    node_of_agent_.push_back(i);
    node.agent = static_cast<std::uint32_t>(node_of_agent_.size());
    node.why.reset();
    return std::exchange(node.ranks, {});
  }
  ++sent_away_;
  return std::nullopt;
}

result<void> node_agents::start(agent_start way, const std::vector<std::string>& hosts) {
  if (way == agent_start::mpir && daemons_come_) return {};
  const auto program = TRY(agent_program(options_.program));
  if (way == agent_start::mpir) return ask_starter(program);
  if (way == agent_start::pmix) return ask_pmix_server(program);
  if (way == agent_start::ssh) return starters_.by_ssh(hosts, program, front_->order());
  if (options_.job_id.empty())
    return fail(error_code::not_found, "agents cannot be started by Slurm: the job does not say its id");
  if (!is_slurm_job_id(options_.job_id)) {
    return fail(error_code::bad_format, fmt::format("agents cannot be started by Slurm: what the starter says is its "
                                                    "job's id, '{}', is none",
                                                    options_.job_id));
  }
  return starters_.by_slurm(options_.job_id, hosts, program, front_->order());
}

result<void> node_agents::ask_starter(const std::string& program) {
  if (!options_.starter)
    return fail(error_code::not_found, "the job's starter cannot be asked to launch agents (MPIR 1.1, 7.1)");
  const auto request = TRY(daemons_for(program, front_->order()));
  auto asked = TRY(starter_daemons::ask(*options_.starter, request));
  asked_ = std::move(asked);
  return {};
}

result<void> node_agents::ask_pmix_server(const std::string& program) {
  if (!options_.pmix_server)
    return fail(error_code::not_found, "the job has no PMIx server on this node that could start agents");
  by_pmix_.reset();
  by_pmix_.emplace(TRY(pmix_daemons::start(*options_.pmix_server, program, front_->order(), options_.stop)));
  daemons_come_ = true;
  return {};
}

bool node_agents::has_come(const std::string& host) const {
  const auto called = nodes_by_name_.find(host);
  return std::any_of(called.begin(), called.end(),
                     [&](std::size_t node) { return nodes_[node].agent != 0 && nodes_[node].host == host; });
}

bool node_agents::may_come() {
  const bool by_command = starters_.has_pending([this](const std::string& host) { return has_come(host); });
  const bool by_starter = daemons_come_ || has_launched_ || (asked_ && asked_->has_pending());
  return by_command || by_starter;
}

bool node_agents::pmix_has_failed() {
  const auto ended = by_pmix_ ? by_pmix_->ended_since() : std::nullopt;
  return ended && clock::now() >= *ended + agent_after_daemon_limit;
}

void node_agents::wait_for(std::size_t wanted, deadline first_by, deadline until) {
  const std::size_t before = node_of_agent_.size();
  deadline next_look = clock::now();
  for (;;) {
    const std::size_t arrived = node_of_agent_.size();
    if (options_.progress) options_.progress({wanted, arrived, false});
    // A starter that has launched one daemon has read the request for all of them.
    if (asked_ && !has_launched_ && arrived + sent_away_ > before) {
      has_launched_ = true;
      asked_->detach();
    }
    const deadline limit = arrived == before ? first_by : until;
    if (arrived == wanted || clock::now() >= limit || can_be_read(options_.stop)) return;
    // The check is not made for each arrival, because it passes over thousands of hosts.
    if (clock::now() >= next_look) {
      if (!may_come()) return;
      // Without another way, a slow node may take all the time.
      if (first_by < until && arrived == before && pmix_has_failed()) return;
      next_look = clock::now() + (asked_ ? between_events : between_looks);
    }
    front_->turn(std::min(limit, next_look));
  }
}

/// A starter may wait for its daemons before it ends, so that unneeded agents must receive their goodbye soon.
void node_agents::send_away(std::size_t idle) {
  if (!daemons_come_ && !has_launched_) return;
  const deadline until = clock::now() + sending_away_limit;
  while (sent_away_ < idle && clock::now() < until && !can_be_read(options_.stop)) front_->turn(until);
}

error node_agents::missing(const known_node& node, clock::duration waited) {
  std::string words = starters_.give_up(node.host);
  if (words.empty() && asked_) words = asked_->last_message();
  if (words.empty()) words = front_->connections().last_refusal();
  if (words.empty() && pmix_has_failed()) words = "PMIx started a daemon there, which has ended without an agent";
  const double tenths = std::round(std::chrono::duration<double>(waited) / std::chrono::milliseconds(100));
  return {error_code::timed_out, fmt::format("no agent has come from {} within {} s{}{}", node.host, tenths / 10,
                                             words.empty() ? "" : "; ", words)};
}

std::optional<std::size_t> node_agents::find(std::string_view host) const {
  for (const std::size_t i : agents_by_name_.find(host)) {
    if (is_called(front_->agents()[i].names, host)) return node_of_agent_[i];
  }
  return std::nullopt;
}

bool node_agents::is_stopped() const {
  return can_be_read(options_.stop);
}

void node_agents::ask(question what) {
  if (front_) front_->ask(std::move(what), options_.answer_limit);
}

std::optional<answer_body> node_agents::collect_any(std::function<void(const heartbeat&)> progress) {
  if (!front_) return std::nullopt;
  collected_answer all = front_->collect({options_.stop, std::move(progress)});
  for (const std::size_t node : node_of_agent_) nodes_[node].why.reset();
  for (agent_problem& missing : all.missing) {
    if (missing.agent == 0 || missing.agent > node_of_agent_.size()) continue;
    known_node& node = nodes_[node_of_agent_[missing.agent - 1]];
    node.why = std::move(missing.why).while_doing(node.host);
  }
  return std::move(all.what);
}

}  // namespace mpiacq::agents
