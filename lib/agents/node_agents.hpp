// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agents of some nodes: how they come, what they are asked, and why some do not answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent_starters.hpp"
#include "front_end.hpp"
#include "mpiacq/job_ranks.hpp"

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
  [[nodiscard]] bool listens() const { return front_ != nullptr; }
  [[nodiscard]] agent_order order() const { return front_->order(); }

  /// Starts agents for these nodes and waits for them, `start_limit` at most. Nodes are numbered from 0 as they are
  /// given, those of further calls behind the others; one that is not reached has its reason.
  void reach(std::vector<agent_node> nodes);
  /// Nobody new is waited for: the secret of this run, where there is one, goes away.
  void expect_no_more();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::string& host(std::size_t node) const { return nodes_[node].host; }
  /// Empty: its agent is there, and has answered the last question.
  [[nodiscard]] const std::optional<error>& why(std::size_t node) const { return nodes_[node].why; }

  void ask(question what);
  /// The merged answer to that; an empty one where there is none. Nodes that have not answered have their reason.
  template <class Part>
  [[nodiscard]] Part collect() {
    auto answer = collect_any();
    auto* part = answer ? std::get_if<Part>(&*answer) : nullptr;
    return part == nullptr ? Part{} : std::move(*part);
  }

 private:
  struct known_node {
    std::string host;
    std::vector<rank_process> ranks;  ///< until they have been given to its agent
    bool has_agent = false;
    std::optional<error> why;
  };
  [[nodiscard]] std::optional<std::vector<rank_process>> place(const node_names& names);
  [[nodiscard]] result<void> start(const std::vector<std::string>& hosts);
  [[nodiscard]] bool has_come(const std::string& host) const;
  void wait_for(std::size_t wanted);
  void note_missing(known_node& node);
  [[nodiscard]] std::optional<answer_body> collect_any();

  agents_options options_;
  std::vector<known_node> nodes_;
  std::vector<std::size_t> node_of_agent_;  ///< by its number, less one
  // The commands that started agents end after the front end, which tells those to end.
  agent_starters starters_;
  std::unique_ptr<front_end> front_;
};

}  // namespace mpiacq::agents
