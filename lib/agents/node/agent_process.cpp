// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/agent_process.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "node/node_answers.hpp"
#include "node/visit_worker.hpp"
#include "wire/protocol_times.hpp"

namespace mpiacq {

namespace agents {

namespace {

node_names names_of_this_node(const std::string& given) {
  node_names names;
  names.given = given;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) names.host = host.data();
  if (const char* slurm = ::getenv("SLURMD_NODENAME")) names.slurm = slurm;
  names.addresses = host_addresses();
  return names;
}

/// Whether the front end listens only on the loopback. Its agents are then on this host, and listen there, too.
bool is_loopback(const agent_order& order) {
  return order.endpoints.size() == 1 && order.endpoints.front().starts_with("tcp://127.");
}

/// The time in which the agents below must answer after a `finish_early`.
constexpr std::chrono::milliseconds early_answer_time{1000};
constexpr std::chrono::milliseconds between_progress{250};
/// A loss reported this shortly before a connection ended may not have arrived, and is reported again.
constexpr std::chrono::seconds losses_repeated_for{5};

}  // namespace

result<void> agent_process::run(const agent_order& order, answerer_factory answers, int stop) {
  const auto key = from_hex(order.front_end_key);
  if (!key || order.endpoints.empty())
    return fail(error_code::invalid_argument, "an agent needs the address and the key of its front end");
  agent_process agent(TRY(trust::for_agent(order.proof)), std::move(answers));
  TRY(agent.set_up(order, *key));
  return agent.run_until(stop);
}

result<void> agent_process::set_up(const agent_order& order, const curve_key& front_end) {
  listener_ = TRY(listener::open(trust_, {is_loopback(order)}));
  children_.emplace(*listener_);
  parent_.emplace(listener_->context(), trust_, peer_address{order.endpoints, front_end},
                  names_of_this_node(order.node), listener_->address());
  if (order.at_most.count() > 0) at_most_ = clock::now() + order.at_most;
  return {};
}

result<void> agent_process::run_until(int stop) {
  while (!wait(stop) && handle_parent()) {
    children_->turn([this] { show_alive(); });
    collect_own_answer();
    send_progress();
    send_problems();
    send_answers();
    if (parent_->failure()) break;
    if (clock::now() >= at_most_ || has_no_more_work()) {
      leave();
      await_goodbye(stop);
      return {};
    }
  }
  leave();
  // An agent with an assignment has done its work: most agents end because their front end has ended.
  if (parent_->failure() && number_ == 0) return fail(*parent_->failure());
  return {};
}

namespace {

/// Waits for one of the items. True if `stop` is readable, which may be -1.
bool poll_until(std::vector<zmq_pollitem_t> items, int stop, deadline until) {
  items.push_back({nullptr, stop, ZMQ_POLLIN, 0});
  const int count = static_cast<int>(items.size()) - (stop < 0 ? 1 : 0);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  // A signal ends the wait early, which is harmless.
  const int ready = zmq_poll(items.data(), count, static_cast<long>(std::clamp<std::int64_t>(left, 0, 60'000)));
  return ready > 0 && stop >= 0 && items.back().revents != 0;
}

}  // namespace

bool agent_process::wait(int stop) {
  auto items = listener_->poll_items();
  const auto more = parent_->poll_items();
  items.insert(items.end(), more.begin(), more.end());
  if (worker_) items.push_back({nullptr, worker_->descriptor(), ZMQ_POLLIN, 0});
  return poll_until(std::move(items), stop,
                    std::min({parent_->next_turn(), children_->next_turn(), answer_by_, at_most_, next_progress()}));
}

void agent_process::leave() {
  children_->say_goodbye();
  static_cast<void>(parent_->send(goodbye{}));
  rank_worker::end(std::move(worker_));
}

void agent_process::await_goodbye(int stop) {
  const deadline by = std::max(clock::now() + short_goodbye_limit, answered_at_ + goodbye_limit);
  while (parent_->is_connected() && clock::now() < by) {
    while (const auto said = parent_->next()) {
      if (std::holds_alternative<goodbye>(*said)) return;
    }
    if (poll_until(parent_->poll_items(), stop, by)) return;
  }
}

// --- Messages of the parent ------------------------------------------------------------------------------------------

bool agent_process::handle_parent() {
  parent_->turn();
  while (auto said = parent_->next()) {
    if (std::holds_alternative<goodbye>(*said)) return false;
    take(std::move(*said));
  }
  return true;
}

void agent_process::take(message&& said) {
  if (auto* given = std::get_if<assignment>(&said)) {
    take_assignment(std::move(*given));
  } else if (std::holds_alternative<welcome>(said)) {
    repeat_losses();
  } else if (std::holds_alternative<heartbeat>(said)) {
    if (owes_answer()) static_cast<void>(parent_->send(progress()));
  } else if (const auto* asked = std::get_if<ask>(&said)) {
    take_question(*asked);
  } else if (const auto* early = std::get_if<finish_early>(&said)) {
    finish_now(*early);
  }
}

void agent_process::take_assignment(assignment&& given) {
  number_ = given.number;
  if (worker_) return;
  watch_ = rank_watch(given.ranks);
  if (auto worker = rank_worker::start(std::move(given.ranks), answers_)) worker_ = std::move(*worker);
}

void agent_process::take_question(const ask& what) {
  if (!worker_) return;
  if (what.number == children_->open().number()) {
    // A new parent asks again: it has not received the parts that went to the parent before.
    for (const answer& part : sent_parts_) static_cast<void>(parent_->send(part));
    return;
  }
  sent_parts_.clear();
  budget_ = {};
  own_is_in_ = false;
  answer_by_ = clock::now() + std::chrono::milliseconds{what.limit_ms};
  children_->put(what);
  worker_->put(what.number, own_part(what.what, number_));
}

void agent_process::finish_now(const finish_early& what) {
  if (!worker_ || what.number != children_->open().number()) return;
  worker_->finish_now(what.number);
  children_->finish_now();
  answer_by_ = std::min(answer_by_, clock::now() + early_answer_time);
}

// --- Messages to the parent ------------------------------------------------------------------------------------------

void agent_process::collect_own_answer() {
  if (!worker_) return;
  auto done = worker_->take();
  if (!done || done->number != children_->open().number()) return;
  own_is_in_ = true;
  children_->open().add({done->number, rank_set(number_), {}, std::move(done->what)});
}

heartbeat agent_process::progress() {
  const heartbeat own = worker_ ? worker_->progress() : heartbeat{}, others = children_->progress();
  return {own.done + others.done, own.all + others.all};
}

bool agent_process::has_progress() {
  if (!worker_ || !has_open_question()) return false;
  const heartbeat now = progress();
  return now.done != reported_progress_.done || now.all != reported_progress_.all;
}

void agent_process::send_progress() {
  if (!has_progress() || clock::now() < progress_again_at_) return;
  reported_progress_ = progress();
  static_cast<void>(parent_->send(reported_progress_));
  progress_again_at_ = clock::now() + between_progress;
}

void agent_process::show_alive() {
  const auto now = clock::now();
  if (now < show_alive_at_) return;
  show_alive_at_ = now + between_progress;
  static_cast<void>(parent_->send(progress()));
  children_->show_alive();
}

/// A parent does not wait for a lost agent, so that problems are sent at once, even while no question is open.
void agent_process::send_problems() {
  auto problems = children_->open().take_problems();
  if (!problems) return;
  static_cast<void>(parent_->send(*problems));
  forget_old_losses();
  losses_.push_back({clock::now(), std::move(*problems)});
}

/// Sends the whole answer once all agents below have answered. If the time is over before that, sends what has arrived,
/// and each later part as it arrives.
void agent_process::send_answers() {
  if (clock::now() >= answer_by_) {
    answer_by_ = no_deadline;
    is_late_ = true;
  }
  if (!children_->open().has_news()) return;
  const bool is_complete = own_is_in_ && children_->all_answered();
  if (!is_complete && !is_late_ && sent_parts_.empty()) return;
  send_part(children_->open().take());
  is_late_ = false;
}

void agent_process::send_part(answer&& part) {
  const auto send = [this](const answer& what) {
    return parent_->send(what, [this] { show_alive(); }) || !parent_->is_connected();
  };
  if (!budget_.send(part, send)) {
    // The answer is longer than a message: the parent gets the reason instead.
    part.what.reset();
    part.problems.push_back({number_, error{error_code::limit, fmt::format("the answers of agents {} are longer than "
                                                                           "a message may be ({} MiB)",
                                                                           part.agents.text(), most_bytes >> 20U)}});
    static_cast<void>(parent_->send(part));
  }
  sent_parts_.push_back(std::move(part));
  answered_at_ = clock::now();
}

/// The parent may have changed, and waits for each agent that it does not know to be lost.
void agent_process::repeat_losses() {
  forget_old_losses();
  for (const reported_loss& one : losses_) {
    answer still_lost = one.what;
    std::erase_if(still_lost.problems, [this](const agent_problem& problem) { return children_->has(problem.agent); });
    if (!still_lost.problems.empty()) static_cast<void>(parent_->send(still_lost));
  }
}

void agent_process::forget_old_losses() {
  const auto since = clock::now() - losses_repeated_for;
  std::erase_if(losses_, [since](const reported_loss& one) { return one.at < since; });
}

bool agent_process::owes_answer() {
  return !worker_ || (has_open_question() && !(own_is_in_ && children_->all_answered()));
}

/// All ranks of the node have ended, the agent owes no answer, and no agent below needs it as its path to the front
/// end.
bool agent_process::has_no_more_work() {
  if (children_->size() != 0 || children_->open().has_news() || (has_open_question() && !own_is_in_)) return false;
  if (!watch_.all_have_ended()) return false;
  const error why{error_code::process_gone, "its ranks have ended"};
  static_cast<void>(parent_->send(answer{children_->open().number(), {}, {{number_, why}}, std::nullopt}));
  return true;
}

}  // namespace agents

result<void> run_agent(const agent_order& order, const agent_programs& programs, int stop) {
  const auto of_node = [programs](std::vector<rank_process> ranks) {
    return agents::node_answers(std::move(ranks), programs);
  };
  return agents::agent_process::run(order, of_node, stop);
}

}  // namespace mpiacq
