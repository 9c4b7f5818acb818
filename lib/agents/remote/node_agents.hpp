// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agents of a set of nodes: starts them, sends them questions, collects their answers, and records why an agent is
// missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiacq/ranks/agents_options.hpp"
#include "start/agent_starters.hpp"
#include "start/pmix_daemons.hpp"
#include "start/scoped_fd_limit.hpp"
#include "start/starter_daemons.hpp"
#include "tree/front_end.hpp"
#include "tree/node_match.hpp"

namespace mpiacq::agents {

/// A node that needs an agent.
struct agent_node {
  std::string host;                 ///< as the job names it
  std::vector<rank_process> ranks;  ///< the ranks of this node for its agent; may be empty
};

/// Thread: one at a time.
class node_agents {
 public:
  explicit node_agents(agents_options options);
  ~node_agents();
  node_agents(const node_agents&) = delete;
  node_agents& operator=(const node_agents&) = delete;

  /// Opens the front end, for agents that another program starts with the arguments in `order`. `reach` calls this if
  /// no caller has.
  [[nodiscard]] result<void> listen();
  /// The same for agents that a starter launches as its daemons. Returns the request that the caller must pass to the
  /// starter. `reach` waits for these agents before it starts any.
  [[nodiscard]] result<mpir::daemon_request> listen_for_daemons();
  /// Replaces the options after more is known of the job. The options of the front end stay as they were.
  void know(agents_options options) { options_ = std::move(options); }
  [[nodiscard]] bool listens() const { return front_ != nullptr; }
  [[nodiscard]] agent_order order() const { return front_->order(); }

  /// Starts agents for these nodes and waits for them, for `time_for` at most. Nodes are numbered from 0 in the order
  /// given; those of further calls follow. `why` has the reason for each node without an agent. `idle`: the number of
  /// the job's nodes that need no agent. A starter launches daemons there as well, and they are sent away.
  void reach(std::vector<agent_node> nodes, std::size_t idle = 0);
  /// No more agents are expected: removes the secret file of this run, if there is one.
  void expect_no_more();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::string& host(std::size_t node) const { return nodes_[node].host; }
  /// The number of the node's agent; 0: no agent has arrived.
  [[nodiscard]] std::uint32_t agent(std::size_t node) const { return nodes_[node].agent; }
  /// The start limit for this number of nodes: it grows with large numbers, because agents are started a few at a time.
  [[nodiscard]] static std::chrono::milliseconds time_for(std::size_t nodes, std::chrono::milliseconds start_limit);
  /// The node whose agent knows it by this name; empty if no agent that has arrived does.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host) const;
  /// The reason why the node has no answer; empty if its agent has arrived and has answered the last question.
  [[nodiscard]] const std::optional<error>& why(std::size_t node) const { return nodes_[node].why; }

  /// Whether the caller has cancelled (agents_options::stop).
  [[nodiscard]] bool is_stopped() const;
  void ask(question what);
  /// The merged answer to the last question; an empty part if there is none. `why` has the reason for each node that
  /// has not answered.
  template <class Part>
  [[nodiscard]] Part collect(std::function<void(const heartbeat&)> progress = {}) {
    auto answer = collect_any(std::move(progress));
    auto* part = answer ? std::get_if<Part>(&*answer) : nullptr;
    return part == nullptr ? Part{} : std::move(*part);
  }

 private:
  struct known_node {
    std::string host;
    std::vector<rank_process> ranks;  ///< until they are assigned to its agent
    std::uint32_t agent = 0;          ///< its number; 0: none has arrived
    std::optional<error> why;
  };
  /// The ways to start agents, in the order in which they are tried until agents arrive.
  [[nodiscard]] std::vector<agent_start> ways() const;
  /// Whether this program runs as root while another user's process names the hosts.
  [[nodiscard]] bool names_are_foreign() const;
  /// Adds nodes. Returns the numbers of those that need an agent.
  [[nodiscard]] std::vector<std::size_t> take_in(std::vector<agent_node> nodes);
  /// Starts agents in one way and waits for them: until `until`, or until `first_by` if none has arrived by then.
  void reach_by(agent_start way, const std::vector<std::size_t>& wanted, deadline first_by, deadline until);
  [[nodiscard]] std::optional<std::vector<rank_process>> assign_ranks(const node_names& names);
  [[nodiscard]] result<void> start(agent_start way, const std::vector<std::string>& hosts);
  [[nodiscard]] result<void> ask_starter(const std::string& program);
  [[nodiscard]] result<void> ask_pmix_server(const std::string& program);
  [[nodiscard]] bool has_come(const std::string& host) const;
  [[nodiscard]] bool may_come();
  /// Whether PMIx has started all agents that it can, so long ago that one of them would have arrived.
  [[nodiscard]] bool pmix_has_failed();
  void wait_for(std::size_t wanted, deadline first_by, deadline until);
  void send_away(std::size_t idle);
  [[nodiscard]] error missing(const known_node& node, clock::duration waited);
  [[nodiscard]] std::optional<answer_body> collect_any(std::function<void(const heartbeat&)> progress);

  agents_options options_;
  std::vector<known_node> nodes_;
  name_index nodes_by_name_;
  std::vector<std::size_t> node_of_agent_;  ///< the agent with number n is at index n - 1
  name_index agents_by_name_;               ///< by index
  scoped_fd_limit descriptors_;
  // The commands that started agents must be destroyed after the front end, which ends those agents.
  agent_starters starters_;
  bool daemons_come_ = false;               ///< the caller makes the starter launch agents
  std::optional<pmix_daemons> by_pmix_;     ///< while their agents are awaited
  std::unique_ptr<starter_daemons> asked_;  ///< this object makes the starter launch agents
  bool has_launched_ = false;               ///< an agent has arrived from `asked_`
  std::size_t sent_away_ = 0;               ///< the number of agents that were not needed
  std::unique_ptr<front_end> front_;
};

}  // namespace mpiacq::agents
