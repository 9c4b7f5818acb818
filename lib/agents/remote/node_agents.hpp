// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agents of some nodes: how they come, what they are asked, and why some do not answer.
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
#include "start/scoped_fd_limit.hpp"
#include "start/starter_daemons.hpp"
#include "tree/front_end.hpp"
#include "tree/node_match.hpp"

namespace mpiacq::agents {

/// A node that wants an agent.
struct agent_node {
  std::string host;                 ///< as the job names it
  std::vector<rank_process> ranks;  ///< for its agent to look after; may be empty
};

/// Thread: one at a time.
class node_agents {
 public:
  explicit node_agents(agents_options options);
  ~node_agents();
  node_agents(const node_agents&) = delete;
  node_agents& operator=(const node_agents&) = delete;

  /// Begins to listen, for what `order` gives to be told to agents that somebody else starts. `reach` does it where
  /// nobody has.
  [[nodiscard]] result<void> listen();
  /// The same for agents that a starter launches as its daemons: what somebody is to ask it for. `reach` waits for them
  /// before it starts any.
  [[nodiscard]] result<mpir::daemon_request> listen_for_daemons();
  /// What has become known of the job since; what concerns listening stays as it was.
  void know(agents_options options) { options_ = std::move(options); }
  [[nodiscard]] bool listens() const { return front_ != nullptr; }
  [[nodiscard]] agent_order order() const { return front_->order(); }

  /// Starts agents for these nodes and waits for them, `time_for` at most. Nodes are numbered from 0 as they are
  /// given, those of further calls behind the others; one that is not reached has its reason. `idle`: so many nodes of
  /// the job need no agent. A starter launches daemons there as well, which are sent away.
  void reach(std::vector<agent_node> nodes, std::size_t idle = 0);
  /// Nobody new is waited for: the secret of this run, where there is one, goes away.
  void expect_no_more();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::string& host(std::size_t node) const { return nodes_[node].host; }
  /// The number of its agent; 0: none has come.
  [[nodiscard]] std::uint32_t agent(std::size_t node) const { return nodes_[node].agent; }
  /// What `start_limit` is for so many nodes: their agents are started some at a time.
  [[nodiscard]] static std::chrono::milliseconds time_for(std::size_t nodes, std::chrono::milliseconds start_limit);
  /// Which node is called so by what its agent knows of it; empty: none whose agent has come.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host) const;
  /// Empty: its agent is there, and has answered the last question.
  [[nodiscard]] const std::optional<error>& why(std::size_t node) const { return nodes_[node].why; }

  /// The caller's descriptor can be read.
  [[nodiscard]] bool is_stopped() const;
  void ask(question what);
  /// The merged answer to that; an empty one where there is none. Nodes that have not answered have their reason.
  template <class Part>
  [[nodiscard]] Part collect(std::function<void(const heartbeat&)> progress = {}) {
    auto answer = collect_any(std::move(progress));
    auto* part = answer ? std::get_if<Part>(&*answer) : nullptr;
    return part == nullptr ? Part{} : std::move(*part);
  }

 private:
  struct known_node {
    std::string host;
    std::vector<rank_process> ranks;  ///< until they have been given to its agent
    std::uint32_t agent = 0;          ///< its number; 0: none has come
    std::optional<error> why;
  };
  /// How to start agents, one after the other until some have come.
  [[nodiscard]] std::vector<agent_start> ways() const;
  /// This program runs as root, and another user's process names the hosts.
  [[nodiscard]] bool names_are_foreign() const;
  /// In numbers of nodes: those that are to have an agent.
  [[nodiscard]] std::vector<std::size_t> take_in(std::vector<agent_node> nodes);
  /// Starts agents in one way and waits for them: until `first_by` where none at all comes.
  void reach_by(agent_start way, const std::vector<std::size_t>& wanted, deadline first_by, deadline until);
  [[nodiscard]] std::optional<std::vector<rank_process>> assign_ranks(const node_names& names);
  [[nodiscard]] result<void> start(agent_start way, const std::vector<std::string>& hosts);
  [[nodiscard]] result<void> ask_starter(const std::string& program);
  [[nodiscard]] bool has_come(const std::string& host) const;
  [[nodiscard]] bool may_come();
  void wait_for(std::size_t wanted, deadline first_by, deadline until);
  void send_away(std::size_t idle);
  [[nodiscard]] error missing(const known_node& node, clock::duration waited);
  [[nodiscard]] std::optional<answer_body> collect_any(std::function<void(const heartbeat&)> progress);

  agents_options options_;
  std::vector<known_node> nodes_;
  name_index nodes_by_name_;
  std::vector<std::size_t> node_of_agent_;  ///< by its number, less one
  name_index agents_by_name_;               ///< numbers less one
  scoped_fd_limit descriptors_;
  // The commands that started agents end after the front end, which tells those to end.
  agent_starters starters_;
  bool daemons_come_ = false;               ///< somebody else has the starter launch some
  std::unique_ptr<starter_daemons> asked_;  ///< we have asked it to
  bool has_launched_ = false;               ///< and it has
  std::size_t sent_away_ = 0;               ///< agents that nobody needs
  std::unique_ptr<front_end> front_;
};

}  // namespace mpiacq::agents
