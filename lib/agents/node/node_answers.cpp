// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/node_answers.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "local_ranks.hpp"
#include "node/job_rank_search.hpp"
#include "node/visit_worker.hpp"

namespace mpiacq::agents {

namespace {

/// A rank that fails is held for at most this time before its node's other ranks are held.
constexpr std::chrono::milliseconds between_looks_at_ends{20};

/// Adapts the question to this node's programs, and forbids downloads, which would delay all answers.
rank_question for_this_node(const ask_queues& what, const agent_programs& programs) {
  ask_queues here = what;
  here.how.types.debug_files.debuginfod = false;
  here.how.host.helper = programs.queue_host;
  return here;
}
rank_question for_this_node(const ask_stacks& what, const agent_programs&) {
  ask_stacks here = what;
  here.debug_files.debuginfod = false;
  return here;
}
rank_question for_this_node(const ask_gates& what, const agent_programs&) {
  ask_gates here = what;
  here.debug_files.debuginfod = false;
  return here;
}
template <class Question>
rank_question for_this_node(const Question& what, const agent_programs&) {
  return what;
}

answer_body to_body(rank_answer answer) {
  return std::visit(
      [](auto& part) -> answer_body {
        // Agents are not asked for registers.
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, registers_part>) {
          return hold_part{};
        } else {
          return std::move(part);
        }
      },
      answer);
}

/// Answers for the ranks of this node. If they cannot be examined, the answer refuses each of them with the reason.
class node_answerer {
 public:
  node_answerer(std::vector<rank_process> ranks, agent_programs programs, std::function<deadline()> now)
      : ranks_(std::move(ranks)), programs_(std::move(programs)), now_(std::move(now)), heard_at_(now_()) {
    // Without ranks no tracer server is needed.
    if (ranks_.empty()) return;
    node_ranks_options options;
    options.tracing.tracing_program = programs_.tracer;
    options.debug_files.debuginfod = false;
    auto made = node_ranks::create(ranks_, options);
    if (made) {
      backend_ = std::make_unique<local_ranks>(std::move(*made), std::vector<job_node>{});
    } else {
      why_ = std::move(made).error();
    }
  }

  answer_body answer(const question& what, const answer_terms& terms) {
    auto answer = std::visit([&](const auto& asked) { return answer_to(asked, terms); }, what);
    // A core file can take longer than the hold limit, and the front end waits for it.
    heard_at_ = now_();
    return answer;
  }

  /// A front end that asks nothing for the time of the hold limit holds no rank any more.
  deadline serve() {
    const auto node = backend_ ? backend_->local() : nullptr;
    if (!node || node->ends_descriptor() < 0) return no_deadline;
    node->serve_ends();
    const auto now = now_();
    if (now < heard_at_ + default_hold_limit) return now + between_looks_at_ends;
    node->unfollow_ends();
    return no_deadline;
  }

 private:
  /// These processes are not ranks.
  static answer_body answer_to(const ask_visits& what, const answer_terms&) { return agents::answer_to(what); }
  static answer_body answer_to(const ask_job_ranks& what, const answer_terms&) { return agents::answer_to(what); }
  template <class Question>
  answer_body answer_to(const Question& what, const answer_terms& terms) {
    if (!backend_) return to_body(refusal_of(ranks_, what, why_));
    backend_->ask(for_this_node(what, programs_));
    return to_body(backend_->collect(terms));
  }

  std::vector<rank_process> ranks_;
  agent_programs programs_;
  std::unique_ptr<local_ranks> backend_;
  std::function<deadline()> now_;
  deadline heard_at_;  ///< when the last question had been answered
  error why_;
};

}  // namespace

answerer node_answers(std::vector<rank_process> ranks, const agent_programs& programs, std::function<deadline()> now) {
  const auto node = std::make_shared<node_answerer>(std::move(ranks), programs, std::move(now));
  return {[node](const question& what, const answer_terms& terms) { return node->answer(what, terms); },
          [node] { return node->serve(); }};
}

}  // namespace mpiacq::agents
