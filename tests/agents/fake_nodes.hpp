// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Several nodes on one machine: a front end, and ranks that it assigns to agents by the names of their nodes.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"
#include "patience.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"
#include "tree/front_end.hpp"

namespace mpiacq::test {

/// The words for a rank of `fake_nodes` that waits in MPI_Recv.
inline const std::vector<std::string> waiting_words = {"receive:world:1:7:64", "in:MPI_Recv"};

/// The command line of such a rank, without a job.
inline std::vector<std::string> waiting_rank() {
  return {MPIACQ_QUEUE_RANKS "/queue_rank",
          "0",
          "2",
          "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so",
          waiting_words[0],
          waiting_words[1]};
}

/// Ranks of the tests' small MPI, one for each list of words. Each node has `ranks_on_each` of them.
class fake_nodes {
 public:
  fake_nodes(const std::vector<std::vector<std::string>>& words, std::size_t ranks_on_each,
             std::uint32_t fan_out = 32) {
    for (std::size_t rank = 0; rank < words.size(); ++rank) {
      std::vector<std::string> line = {MPIACQ_QUEUE_RANKS "/queue_rank", std::to_string(rank),
                                       std::to_string(words.size()),
                                       "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so"};
      line.insert(line.end(), words[rank].begin(), words[rank].end());
      processes_.push_back(std::make_unique<live_process>(line));
      (void)processes_.back()->lines_until_ready();
      nodes_["n" + std::to_string(rank / ranks_on_each)].push_back({entry_index{rank}, processes_.back()->pid(), ""});
    }
    agents::front_end_options options;
    options.fan_out = fan_out;
    options.loopback_only = true;
    options.munge_socket = folder_.path("no-socket");
    options.secret_folder = folder_.path(".");
    front_ = agents::front_end::open(options, [this](const agents::node_names& names, std::uint32_t) {
               const auto node = nodes_.find(names.given);
               return node == nodes_.end() ? std::nullopt : std::optional(node->second);
             }).value();
  }

  [[nodiscard]] agents::front_end& front() { return *front_; }
  void end_front() { front_.reset(); }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] agent_order order_for(const std::string& node) const {
    agent_order order = front_->order();
    order.node = node;
    return order;
  }
  [[nodiscard]] pid_t pid(std::size_t rank) const { return static_cast<pid_t>(processes_[rank]->pid().value()); }
  [[nodiscard]] bool is_held(std::size_t rank) const { return status_of(pid(rank), "TracerPid") != "0"; }
  void end_rank(std::size_t rank) { processes_[rank].reset(); }
  /// Waits until so many agents have arrived; false after ten seconds.
  bool wait_for_agents(std::size_t count) {
    const auto end = clock::now() + patience;
    while (front_->agents().size() < count && clock::now() < end) front_->turn(end);
    return front_->agents().size() == count;
  }
  agents::collected_answer ask(agents::question what) {
    front_->ask(std::move(what), std::chrono::seconds(20));
    return front_->collect();
  }

 private:
  scratch_folder folder_;
  std::vector<std::unique_ptr<live_process>> processes_;
  std::map<std::string, std::vector<rank_process>> nodes_;
  std::unique_ptr<agents::front_end> front_;
};

/// An agent on a thread of the test.
class agent_thread {
 public:
  explicit agent_thread(agent_order order)
      : stop_(::eventfd(0, EFD_CLOEXEC)),
        thread_([this, mine = std::move(order)] { outcome_ = run_agent(mine, {}, stop_.get()); }) {}
  ~agent_thread() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  agent_thread(const agent_thread&) = delete;
  agent_thread& operator=(const agent_thread&) = delete;
  void stop() {
    const std::uint64_t one = 1;
    REQUIRE(::write(stop_.get(), &one, sizeof one) == sizeof one);
  }
  /// Waits until the agent has ended by itself.
  [[nodiscard]] const result<void>& outcome() {
    thread_.join();
    return outcome_;
  }

 private:
  base::unique_fd stop_;
  result<void> outcome_;
  std::thread thread_;
};

}  // namespace mpiacq::test
