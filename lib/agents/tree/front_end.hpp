// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The root of the tree: it numbers agents, assigns ranks to them, asks them, and knows which ones are missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/ranks/agent.hpp"
#include "tree/child_links.hpp"

namespace mpiacq::agents {

struct front_end_options {
  std::uint32_t fan_out = 32;
  std::string munge_socket;
  std::string secret_folder;
  bool loopback_only = false;
  std::chrono::seconds agents_live = std::chrono::hours(7 * 24);  ///< `agent_order::at_most` of all agents
};

/// An agent that has greeted the front end.
struct agent_facts {
  node_names names;
  peer_address address;
  std::optional<error> why;              ///< the reason why it is lost; empty: it is not
  std::vector<rank_process> ranks = {};  ///< kept until its first answer, in case it asks for its assignment again
};

/// The merged answer to a question.
struct collected_answer {
  std::optional<answer_body> what;     ///< of the agents that answered; empty: none did
  std::vector<agent_problem> missing;  ///< the agents that did not answer
};

struct collect_terms {
  int stop = -1;  ///< when this descriptor is readable, agents answer with their results so far; -1: never
  std::function<void(const heartbeat&)> progress = {};  ///< called with the progress of all agents
};

/// Thread: one at a time.
class front_end {
 public:
  /// The ranks for the node with these names; empty: no agent is needed there.
  using assigner = std::function<std::optional<std::vector<rank_process>>(const node_names&, std::uint32_t number)>;

  [[nodiscard]] static result<std::unique_ptr<front_end>> open(const front_end_options& options, assigner ranks_of);
  /// Ends the agents.
  ~front_end();
  front_end(const front_end&) = delete;
  front_end& operator=(const front_end&) = delete;

  /// The order for an agent that shall connect to this front end.
  [[nodiscard]] agent_order order() const;
  /// No more agents are expected: removes the secret file if there is one.
  void expect_no_more() { trust_.withdraw(); }
  /// Handles messages that have arrived. If there are none, waits for one, until `until` has passed or `stop` is
  /// readable.
  void turn(deadline until, int stop = -1);

  /// Agent n is at index n - 1.
  [[nodiscard]] const std::vector<agent_facts>& agents() const { return agents_; }
  /// The number of agents whose parent is the front end.
  [[nodiscard]] std::size_t direct() const { return children_->size(); }
  /// Which connections were accepted and refused.
  [[nodiscard]] const listener& connections() const { return *listener_; }
  /// The bytes of all messages that have arrived.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

  void ask(question what, std::chrono::milliseconds limit);
  /// Waits for the answer to the last question: until each agent has answered or is lost, or the time is over.
  [[nodiscard]] collected_answer collect(const collect_terms& terms = {});

 private:
  front_end(trust proof, const front_end_options& options, assigner ranks_of)
      : fan_out_(options.fan_out),
        agents_live_(options.agents_live),
        trust_(std::move(proof)),
        ranks_of_(std::move(ranks_of)) {}
  void greet(const peer_name& peer, const hello& greeting);
  void send_assignment(const peer_name& peer, std::uint32_t number);
  void take_news();
  [[nodiscard]] bool has_answered(std::size_t index) const;
  [[nodiscard]] std::vector<peer_address> path_to(std::uint32_t number) const;

  std::uint32_t fan_out_;
  std::chrono::seconds agents_live_;
  trust trust_;
  assigner ranks_of_;
  std::unique_ptr<listener> listener_;
  std::optional<child_links> children_;
  std::vector<agent_facts> agents_;
  std::map<curve_key, std::uint32_t> unconfirmed_;  ///< agents that have not answered yet, by the keys of their ports
  std::uint64_t questions_ = 0;
  std::uint64_t bytes_received_ = 0;
  deadline answer_by_{};
};

}  // namespace mpiacq::agents
