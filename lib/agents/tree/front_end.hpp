// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The root of the tree: gives agents their places and their ranks, asks them, and knows who is missing.
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
  std::chrono::seconds agents_live = std::chrono::hours(7 * 24);  ///< whatever happens to the front end
};

/// An agent that has come.
struct agent_facts {
  node_names names;
  peer_address address;
  std::optional<error> why;              ///< it is lost
  std::vector<rank_process> ranks = {};  ///< until it has answered, and so has been told them
};

/// What became of a question.
struct gathered {
  std::optional<answer_body> what;  ///< of those that answered
  std::vector<agent_problem> missing;
};

struct collect_terms {
  int stop = -1;  ///< once it can be read, what there is by then will do, and is waited for a little; -1: it never can
  std::function<void(const alive&)> progress = {};  ///< told how far the agents are; empty: nobody asks
};

/// Thread: one at a time.
class front_end {
 public:
  /// Which ranks an agent gets, by the names of its node; empty: it is not wanted.
  using placing = std::function<std::optional<std::vector<rank_process>>(const node_names&, std::uint32_t number)>;

  [[nodiscard]] static result<std::unique_ptr<front_end>> open(const front_end_options& options, placing ranks_of);
  /// Agents end.
  ~front_end();
  front_end(const front_end&) = delete;
  front_end& operator=(const front_end&) = delete;

  /// What to tell agents.
  [[nodiscard]] agent_order order() const;
  /// Nobody new is waited for: the secret, where there is one, is taken away.
  void expect_no_more() { trust_.withdraw(); }
  /// Does what there is to do; where there is nothing, waits for something, until then at most.
  void turn(deadline until, int stop = -1);

  /// Those that have come: agent n is at n - 1.
  [[nodiscard]] const std::vector<agent_facts>& agents() const { return agents_; }
  /// How many of them answer to it without another between.
  [[nodiscard]] std::size_t direct() const { return below_->size(); }
  /// Whose connection is let in and whose is not.
  [[nodiscard]] const listener& door() const { return *zap_handler_; }
  /// How much has come in, of what agents said.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

  void ask(question what, std::chrono::milliseconds limit);
  /// The answer to what was asked last, when all have given theirs, or are lost, or the time is over.
  [[nodiscard]] gathered collect(const collect_terms& terms = {});

 private:
  front_end(trust who, const front_end_options& options, placing ranks_of)
      : fan_out_(options.fan_out),
        agents_live_(options.agents_live),
        trust_(std::move(who)),
        ranks_of_(std::move(ranks_of)) {}
  void greet(const peer_name& peer, const hello& greeting);
  void tell_place(const peer_name& peer, std::uint32_t number);
  void note_losses();
  [[nodiscard]] std::vector<peer_address> way_to(std::uint32_t number) const;

  std::uint32_t fan_out_;
  std::chrono::seconds agents_live_;
  trust trust_;
  placing ranks_of_;
  std::unique_ptr<listener> zap_handler_;
  std::optional<child_links> below_;
  std::vector<agent_facts> agents_;
  std::map<curve_key, std::uint32_t> unheard_;  ///< by the keys of their doors: who may not know its place yet
  std::uint64_t questions_ = 0;
  std::uint64_t bytes_received_ = 0;
  deadline answered_by_{};
  std::optional<answer_body> answer_;
};

}  // namespace mpiacq::agents
