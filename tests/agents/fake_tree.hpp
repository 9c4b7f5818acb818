// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A tree of many agents without ranks: a real front end and real agents, with fake answers.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "node/agent_process.hpp"
#include "patience.hpp"
#include "run_command.hpp"
#include "sample_messages.hpp"
#include "tree/front_end.hpp"

namespace mpiacq::test {

/// All ranks have the same stack. The ranks of agent n follow those of agent n - 1.
class fake_tree {
 public:
  static constexpr std::uint32_t ranks_each = 8;

  fake_tree(std::uint32_t count, std::uint32_t fan_out) {
    agents::front_end_options options;
    options.fan_out = fan_out;
    options.loopback_only = true;
    options.munge_socket = folder_.path("no-socket");
    options.secret_folder = folder_.path(".");
    front_ = agents::front_end::open(options, [](const agents::node_names&, std::uint32_t number) {
               std::vector<rank_process> ranks;
               for (std::uint32_t i = 0; i < ranks_each; ++i)
                 ranks.push_back({entry_index{(number - 1) * ranks_each + i}, process_id{1}, ""});
               return std::optional(ranks);
             }).value();
    const auto end = clock::now() + patience;
    for (std::uint32_t i = 0; i < count; ++i) {
      threads_.emplace_back(
          [order = front_->order()] { static_cast<void>(agents::agent_process::run(order, answers, -1)); });
      while (front_->agents().size() <= i && clock::now() < end) front_->turn(end);
    }
  }
  ~fake_tree() {
    front_.reset();
    for (std::thread& thread : threads_) thread.join();
  }
  fake_tree(const fake_tree&) = delete;
  fake_tree& operator=(const fake_tree&) = delete;

  [[nodiscard]] agents::front_end& front() { return *front_; }
  [[nodiscard]] agents::collected_answer stacks() {
    front_->ask(agents::ask_stacks{}, std::chrono::seconds(20));
    return front_->collect();
  }

 private:
  static agents::answerer answers(const std::vector<rank_process>& ranks) {
    group_stacks part;
    for (const rank_process& rank : ranks) {
      add_stack(part.tree, rank.entry.value(), {"main", "step", "solve", "MPI_Allreduce", "progress", "poll"});
      part.taken.add(rank.entry);
    }
    const auto answer = [part = std::move(part)](const agents::question&, const answer_terms&) {
      return agents::answer_body(part);
    };
    return agents::answerer{answer};
  }

  scratch_folder folder_;
  std::unique_ptr<agents::front_end> front_;
  std::deque<std::thread> threads_;
};

}  // namespace mpiacq::test
