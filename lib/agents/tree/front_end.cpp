// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/front_end.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

namespace {

long poll_ms(deadline until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<long>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Time allowed for a partial answer to be assembled and to reach the root.
constexpr std::chrono::seconds early_answer_limit{2};

}  // namespace

result<std::unique_ptr<front_end>> front_end::open(const front_end_options& options, assigner ranks_of) {
  auto proof = trust::for_front_end(options.munge_socket, options.secret_folder);
  if (!proof) return fail(std::move(proof).error().while_doing("getting ready for agents"));
  std::unique_ptr<front_end> made(new front_end(std::move(*proof), options, std::move(ranks_of)));
  made->listener_ = TRY(listener::open(made->trust_, {options.loopback_only}));
  made->children_.emplace(*made->listener_);
  made->children_->newcomer = [&self = *made](const peer_name& peer, const hello& said) { self.greet(peer, said); };
  made->children_->received = [&self = *made](std::size_t bytes) { self.bytes_received_ += bytes; };
  return made;
}

front_end::~front_end() {
  if (children_) children_->say_goodbye();
}

agent_order front_end::order() const {
  agent_order order;
  order.endpoints = listener_->address().endpoints;
  order.front_end_key = hex(listener_->address().key);
  order.proof = trust_.proof();
  order.at_most = agents_live_;
  return order;
}

/// Agents are numbered from 1 in the order of their greetings. The parent of agent n is the front end if n <= fan-out,
/// otherwise agent (n - 1) / fan-out, which has a lower number and has therefore arrived before.
std::vector<peer_address> front_end::path_to(std::uint32_t number) const {
  std::vector<peer_address> path;
  for (std::uint32_t above = (number - 1) / fan_out_; above != 0; above = (above - 1) / fan_out_)
    path.push_back(agents_[above - 1].address);
  path.push_back(listener_->address());
  std::reverse(path.begin(), path.end());
  return path;
}

void front_end::greet(const peer_name& peer, const hello& greeting) {
  // An agent that disconnects before it receives its assignment reconnects and gets the same one. The key of its port
  // identifies its process.
  const auto known = unconfirmed_.find(greeting.address.key);
  if (known != unconfirmed_.end()) return send_assignment(peer, known->second);
  const auto number = static_cast<std::uint32_t>(agents_.size() + 1);
  auto ranks = ranks_of_(greeting.names, number);
  if (!ranks) {
    static_cast<void>(listener_->send(peer, goodbye{}));
    return listener_->forget(peer);
  }
  agents_.push_back({greeting.names, greeting.address, std::nullopt, std::move(*ranks)});
  unconfirmed_.emplace(greeting.address.key, number);
  send_assignment(peer, number);
}

void front_end::send_assignment(const peer_name& peer, std::uint32_t number) {
  agent_facts& agent = agents_[number - 1];
  agent.why.reset();
  const assignment given{number, path_to(number), agent.ranks};
  static_cast<void>(listener_->send(peer, given));
  if (given.above.size() == 1) return children_->adopt(peer, number);
  // The agent connects to its parent.
  listener_->forget(peer);
}

void front_end::turn(deadline until, int stop) {
  auto items = listener_->poll_items();
  if (stop >= 0) items.push_back({nullptr, stop, ZMQ_POLLIN, 0});
  // A signal ends the wait early, which is harmless.
  static_cast<void>(
      zmq_poll(items.data(), static_cast<int>(items.size()), poll_ms(std::min(until, children_->next_turn()))));
  children_->turn();
  take_news();
}

void front_end::take_news() {
  reducer::news news = children_->open().take_news();
  for (const auto& range : news.answered.ranges()) {
    for (std::uint64_t n = std::max(range.first, 1U); n <= range.last && n <= agents_.size(); ++n) {
      agent_facts& agent = agents_[n - 1];
      agent.why.reset();
      // Assigning {} would keep the memory.
      agent.ranks = std::vector<rank_process>();
      unconfirmed_.erase(agent.address.key);
    }
  }
  for (agent_problem& problem : news.problems) {
    if (problem.agent < 1 || problem.agent > agents_.size()) continue;
    // The first problem is the reason. Later ones, such as a failed connection, follow from it.
    auto& why = agents_[problem.agent - 1].why;
    if (!why) why = std::move(problem.why);
  }
}

void front_end::ask(question what, std::chrono::milliseconds limit) {
  // Handles agents that were lost since the last question.
  turn(clock::now());
  answer_by_ = clock::now() + limit;
  children_->put({++questions_, static_cast<std::uint32_t>(limit.count()), std::move(what)});
}

bool front_end::has_answered(std::size_t index) const {
  return children_->open().covered().contains(static_cast<std::uint32_t>(index + 1));
}

collected_answer front_end::collect(const collect_terms& terms) {
  std::size_t settled = 0;  // all agents before this index have answered or are lost, which does not change any more
  const auto waits = [&] {
    while (settled < agents_.size() && (agents_[settled].why || has_answered(settled))) ++settled;
    return settled < agents_.size();
  };
  // Answers that arrived while the caller was busy count, even if the time is over.
  turn(clock::now());
  int stop = terms.stop;
  while (waits() && clock::now() < answer_by_) {
    if (can_be_read(stop)) {
      stop = -1;
      children_->finish_now();
      answer_by_ = std::min(answer_by_, clock::now() + early_answer_limit);
    }
    turn(answer_by_, stop);
    if (terms.progress) terms.progress(children_->progress());
  }
  if (terms.progress) terms.progress(children_->progress());
  collected_answer all{children_->open().take_body(), {}};
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (has_answered(i)) continue;
    error why = agents_[i].why.value_or(error{error_code::timed_out, "its agent has not answered in time"});
    all.missing.push_back({static_cast<std::uint32_t>(i + 1), std::move(why)});
  }
  return all;
}

}  // namespace mpiacq::agents
