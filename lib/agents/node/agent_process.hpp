// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agent of one node: a link to its parent, links to its children, and the worker that examines its ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/ranks/agent.hpp"
#include "node/rank_watch.hpp"
#include "node/rank_worker.hpp"
#include "tree/child_links.hpp"
#include "tree/parent_link.hpp"
#include "tree/queue_budget.hpp"

namespace mpiacq::agents {

/// Connects to the front end, receives its assignment, and answers questions until the front end, the job, or its time
/// ends. Thread: one at a time, beside the worker's own.
class agent_process {
 public:
  /// `mpiacq::run_agent` with any source of answers; tests and benchmarks pass fake ones.
  [[nodiscard]] static result<void> run(const agent_order& order, answerer_factory answers, int stop);

 private:
  struct reported_loss {
    deadline at{};
    answer what;  ///< problems only
  };

  agent_process(trust proof, answerer_factory answers) : trust_(std::move(proof)), answers_(std::move(answers)) {}
  [[nodiscard]] result<void> set_up(const agent_order& order, const curve_key& front_end);
  [[nodiscard]] result<void> run_until(int stop);
  /// Waits for the next event. True if `stop` is readable.
  [[nodiscard]] bool wait(int stop);
  void leave();
  /// Closing a connection on which unread bytes have arrived resets it, and what it still has to send is lost. So an
  /// agent that ends by itself reads on until its parent confirms, by a goodbye, that it has everything.
  void await_goodbye(int stop);

  // Messages of the parent.
  /// False after its goodbye.
  [[nodiscard]] bool handle_parent();
  void take(message&& said);
  void take_assignment(assignment&& given);
  void take_question(const ask& what);
  void finish_now(const finish_early& what);

  // Messages to the parent.
  void collect_own_answer();
  void send_progress();
  /// Sends a heartbeat to the parent and to the children if none was sent for a while. Long messages take seconds on a
  /// busy node.
  void show_alive();
  void send_problems();
  void send_answers();
  void send_part(answer&& part);
  void repeat_losses();
  void forget_old_losses();

  /// The progress of this agent and of those below it.
  [[nodiscard]] heartbeat progress();
  [[nodiscard]] bool has_progress();
  [[nodiscard]] bool has_open_question() { return children_->open().number() != 0; }
  [[nodiscard]] bool owes_answer();
  [[nodiscard]] bool has_no_more_work();
  [[nodiscard]] deadline next_progress() { return has_progress() ? progress_again_at_ : no_deadline; }

  trust trust_;
  answerer_factory answers_;
  std::unique_ptr<listener> listener_;
  std::optional<child_links> children_;
  std::optional<parent_link> parent_;
  std::unique_ptr<rank_worker> worker_;  ///< null before the assignment
  rank_watch watch_;
  std::uint32_t number_ = 0;  ///< 0 before the assignment
  bool own_is_in_ = false;    ///< this agent's own answer to the open question is complete
  bool is_late_ = false;      ///< the time of the open question is over: what has arrived is sent
  heartbeat reported_progress_;
  deadline progress_again_at_{};
  deadline show_alive_at_{};
  deadline answer_by_ = no_deadline;
  deadline answered_at_{};  ///< the last time
  deadline at_most_ = no_deadline;
  std::vector<answer> sent_parts_;  ///< of the open question
  sent_answers budget_;             ///< bounds `sent_parts_`
  std::vector<reported_loss> losses_;
};

}  // namespace mpiacq::agents
