// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/agent.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "node/agent_process.hpp"
#include "node/queue_budget.hpp"
#include "node/rank_watch.hpp"
#include "node/visit_worker.hpp"
#include "remote/node_answers.hpp"
#include "tree/child_links.hpp"
#include "tree/parent_link.hpp"

namespace mpiacq {

namespace agents {

namespace {

node_names names_here(const std::string& told) {
  node_names names;
  names.told = told;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) names.host = host.data();
  if (const char* slurm = ::getenv("SLURMD_NODENAME")) names.slurm = slurm;
  names.addresses = host_addresses();
  return names;
}

/// What there is of an answer goes up that long after somebody has said that it will do.
constexpr std::chrono::milliseconds hurried_limit{1000};
constexpr std::chrono::milliseconds between_progress{250};
/// What was said so shortly before a connection ended may not have been heard.
constexpr std::chrono::seconds said_again{5};

/// The agent of one node: one parent_link above, a child_links below, and its own ranks.
class node_agent {
 public:
  node_agent(trust who, answering_for answers) : trust_(std::move(who)), answers_(std::move(answers)) {}

  result<void> set_up(const agent_order& order, const curve_key& front_end) {
    auto door = listener::open(trust_, {is_loopback(order)});
    if (!door) return fail(std::move(door).error());
    zap_handler_ = std::move(*door);
    below_.emplace(*zap_handler_);
    parent_.emplace(zap_handler_->context(), trust_, peer_address{order.endpoints, front_end}, names_here(order.node),
                    zap_handler_->address());
    if (order.at_most.count() > 0) at_most_ = clock::now() + order.at_most;
    return {};
  }

  result<void> run(int stop) {
    for (;;) {
      if (wait(stop)) return end();
      parent_->turn();
      while (auto said = parent_->next()) {
        if (std::holds_alternative<farewell>(*said)) return end();
        take(std::move(*said));
      }
      below_->turn();
      take_own();
      tell_progress();
      pass_on();
      if (parent_->given_up()) {
        // Who has had a place has done its work: that its front end ends is how it mostly ends.
        const bool had_a_place = number_ != 0;
        static_cast<void>(end());
        if (!had_a_place) return fail(*parent_->given_up());
        return {};
      }
      if (clock::now() >= at_most_ || is_done()) return end();
    }
  }

 private:
  /// A front end that is only here: so are we.
  static bool is_loopback(const agent_order& order) {
    return order.endpoints.size() == 1 && order.endpoints.front().starts_with("tcp://127.");
  }

  /// True where `stop` can be read.
  bool wait(int stop) {
    auto items = zap_handler_->poll_items();
    const auto more = parent_->poll_items();
    items.insert(items.end(), more.begin(), more.end());
    if (worker_) items.push_back({nullptr, worker_->descriptor(), ZMQ_POLLIN, 0});
    items.push_back({nullptr, stop, ZMQ_POLLIN, 0});
    const int count = static_cast<int>(items.size()) - (stop < 0 ? 1 : 0);
    const auto until = std::min({parent_->next_turn(), below_->next_turn(), flush_by_, at_most_, tell_by()});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    // A signal ends a wait early, and does no more.
    const int ready = zmq_poll(items.data(), count, static_cast<long>(std::clamp<std::int64_t>(left, 0, 60'000)));
    return ready > 0 && stop >= 0 && items.back().revents != 0;
  }

  void take(message&& said) {
    if (auto* placed = std::get_if<place>(&said)) {
      number_ = placed->number;
      if (worker_) return;
      watch_ = rank_watch(placed->ranks);
      if (auto worker = rank_worker::start(std::move(placed->ranks), answers_)) worker_ = std::move(*worker);
    } else if (std::holds_alternative<welcome>(said)) {
      tell_losses();
    } else if (std::holds_alternative<alive>(said)) {
      if (owes_answer()) static_cast<void>(parent_->send(progress()));
    } else if (const auto* asked = std::get_if<ask>(&said)) {
      answer_to(*asked);
    } else if (const auto* will_do = std::get_if<enough>(&said)) {
      hurry(*will_do);
    }
  }

  void hurry(const enough& what) {
    if (!worker_ || what.number != below_->open().number()) return;
    worker_->hurry(what.number);
    below_->hurry();
    flush_by_ = std::min(flush_by_, clock::now() + hurried_limit);
  }

  /// How far it and those below are.
  [[nodiscard]] alive progress() {
    const alive own = worker_ ? worker_->progress() : alive{}, others = below_->progress();
    return {own.done + others.done, own.all + others.all};
  }

  /// Somebody may be waiting for it.
  [[nodiscard]] bool owes_answer() {
    return !worker_ || (below_->open().number() != 0 && !(own_is_in_ && below_->all_answered()));
  }

  [[nodiscard]] bool has_progress() {
    if (!worker_ || below_->open().number() == 0) return false;
    const alive now = progress();
    return now.done != told_.done || now.all != told_.all;
  }

  [[nodiscard]] deadline tell_by() { return has_progress() ? tell_again_at_ : no_deadline; }

  void tell_progress() {
    if (has_progress() && clock::now() >= tell_again_at_) {
      const alive now = progress();
      static_cast<void>(parent_->send(now));
      told_ = now;
      tell_again_at_ = clock::now() + between_progress;
    }
  }

  void answer_to(const ask& what) {
    if (!worker_) return;
    if (what.number == below_->open().number()) {
      // It has asked before, or who is above now has not heard what was said to another.
      for (const answer& part : said_) static_cast<void>(parent_->send(part));
      return;
    }
    said_.clear();
    sent_ = {};
    own_is_in_ = false;
    flush_by_ = clock::now() + std::chrono::milliseconds{what.limit_ms};
    below_->put(what);
    worker_->put(what.number, own_part(what.what, number_));
  }

  void take_own() {
    if (!worker_) return;
    auto done = worker_->take();
    if (!done || done->number != below_->open().number()) return;
    own_is_in_ = true;
    below_->open().add({done->number, rank_set(number_), {}, std::move(done->what)});
  }

  /// All together when all are there; what has come when the time is over; then whatever comes later.
  void pass_on() {
    const bool is_late = clock::now() >= flush_by_;
    if (is_late) flush_by_ = no_deadline;
    late_ = late_ || is_late;
    // Who is lost is told at once, also while nothing is asked.
    if (auto problems = below_->open().take_problems()) {
      static_cast<void>(parent_->send(*problems));
      forget_old_losses();
      losses_.push_back({clock::now(), std::move(*problems)});
    }
    if (!below_->open().has_news()) return;
    const bool all = own_is_in_ && below_->all_answered();
    if (!all && !late_ && said_.empty()) return;
    answer part = below_->open().take();
    const auto send = [this](const answer& what) { return parent_->send(what) || !parent_->is_connected(); };
    if (!sent_.send(part, send)) {
      // More than one message holds: nobody below is heard, and that is said.
      part.what.reset();
      part.problems.push_back({number_, error{error_code::limit, fmt::format("the answers of agents {} are longer than "
                                                                             "a message may be ({} MiB)",
                                                                             part.agents.text(), most_bytes >> 20U)}});
      static_cast<void>(parent_->send(part));
    }
    late_ = false;
    said_.push_back(std::move(part));
  }

  /// To whoever is above now: an agent that nobody is told of is waited for.
  void tell_losses() {
    forget_old_losses();
    for (const loss& one : losses_) {
      answer still_lost = one.what;
      std::erase_if(still_lost.problems, [this](const agent_problem& problem) { return below_->has(problem.agent); });
      if (!still_lost.problems.empty()) static_cast<void>(parent_->send(still_lost));
    }
  }

  void forget_old_losses() {
    const auto since = clock::now() - said_again;
    std::erase_if(losses_, [since](const loss& one) { return one.at < since; });
  }

  /// Its ranks have ended, it owes no answer, and nobody is below it whose way up it is.
  bool is_done() {
    if (below_->size() != 0 || below_->open().has_news() || (below_->open().number() != 0 && !own_is_in_)) return false;
    if (!watch_.all_have_ended()) return false;
    const error why{error_code::process_gone, "its ranks have ended"};
    static_cast<void>(parent_->send(answer{below_->open().number(), {}, {{number_, why}}, std::nullopt}));
    return true;
  }

  result<void> end() {
    below_->say_farewell();
    static_cast<void>(parent_->send(farewell{}));
    rank_worker::end(std::move(worker_));
    return {};
  }

  trust trust_;
  answering_for answers_;
  std::unique_ptr<listener> zap_handler_;
  std::optional<child_links> below_;
  std::optional<parent_link> parent_;
  std::unique_ptr<rank_worker> worker_;
  rank_watch watch_;
  std::uint32_t number_ = 0;
  bool own_is_in_ = false;
  bool late_ = false;
  alive told_;
  deadline tell_again_at_{};
  deadline flush_by_ = no_deadline;
  deadline at_most_ = no_deadline;
  std::vector<answer> said_;  ///< to the question that is open
  sent_answers sent_;         ///< bounds `said_`
  struct loss {
    deadline at{};
    answer what;  ///< problems alone
  };
  std::vector<loss> losses_;  ///< that have been told
};

}  // namespace

result<void> run_agent(const agent_order& order, answering_for answers, int stop) {
  const auto key = from_hex(order.front_end_key);
  if (!key || order.endpoints.empty())
    return fail(error_code::invalid_argument, "an agent needs the address and the key of its front end");
  auto who = trust::told(order.proof);
  if (!who) return fail(std::move(who).error());
  node_agent agent(std::move(*who), std::move(answers));
  if (auto set = agent.set_up(order, *key); !set) return set;
  return agent.run(stop);
}

}  // namespace agents

result<void> run_agent(const agent_order& order, const agent_programs& programs, int stop) {
  const auto of_node = [programs](std::vector<rank_process> ranks) {
    return agents::node_answers(std::move(ranks), programs);
  };
  return agents::run_agent(order, of_node, stop);
}

}  // namespace mpiacq
