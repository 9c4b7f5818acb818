// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/front_end.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

long poll_ms(deadline until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<long>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Who is told that what it has will do has it together, and it comes up the tree, in that time.
constexpr std::chrono::seconds hurried_answers_limit{2};

}  // namespace

result<std::unique_ptr<front_end>> front_end::open(const front_end_options& options, placing ranks_of) {
  auto who = trust::begin(options.munge_socket, options.secret_folder);
  if (!who) return fail(std::move(who).error().while_doing("getting ready for agents"));
  std::unique_ptr<front_end> made(new front_end(std::move(*who), options, std::move(ranks_of)));
  auto door = listener::open(made->trust_, {options.loopback_only});
  if (!door) return fail(std::move(door).error());
  made->zap_handler_ = std::move(*door);
  made->below_.emplace(*made->zap_handler_);
  made->below_->newcomer = [&self = *made](const peer_name& peer, const hello& said) { self.greet(peer, said); };
  made->below_->received = [&self = *made](std::size_t bytes) { self.bytes_received_ += bytes; };
  return made;
}

front_end::~front_end() {
  if (below_) below_->say_farewell();
}

agent_order front_end::order() const {
  agent_order order;
  order.endpoints = zap_handler_->address().endpoints;
  order.front_end_key = hex(zap_handler_->address().key);
  order.proof = trust_.proof();
  order.at_most = agents_live_;
  return order;
}

/// Numbers begin with 1. The first `fan_out` answer to us, agent n else to (n - 1) / fan_out, which has come before.
std::vector<peer_address> front_end::way_to(std::uint32_t number) const {
  std::vector<peer_address> way;
  for (std::uint32_t above = (number - 1) / fan_out_; above != 0; above = (above - 1) / fan_out_)
    way.push_back(agents_[above - 1].address);
  way.push_back(zap_handler_->address());
  std::reverse(way.begin(), way.end());
  return way;
}

void front_end::greet(const peer_name& peer, const hello& greeting) {
  // Its connection broke before it was told its place: its door's key is of this one process.
  const auto known = unheard_.find(greeting.address.key);
  if (known != unheard_.end()) return tell_place(peer, known->second);
  const auto number = static_cast<std::uint32_t>(agents_.size() + 1);
  auto ranks = ranks_of_(greeting.names, number);
  if (!ranks) {
    static_cast<void>(zap_handler_->send(peer, farewell{}));
    return zap_handler_->forget(peer);
  }
  agents_.push_back({greeting.names, greeting.address, std::nullopt, std::move(*ranks)});
  unheard_.emplace(greeting.address.key, number);
  tell_place(peer, number);
}

void front_end::tell_place(const peer_name& peer, std::uint32_t number) {
  agent_facts& agent = agents_[number - 1];
  agent.why.reset();
  const place told{number, way_to(number), agent.ranks};
  static_cast<void>(zap_handler_->send(peer, told));
  if (told.above.size() == 1) return below_->adopt(peer, number);
  // It goes on to its parent.
  zap_handler_->forget(peer);
}

void front_end::turn(deadline until, int stop) {
  auto items = zap_handler_->poll_items();
  if (stop >= 0) items.push_back({nullptr, stop, ZMQ_POLLIN, 0});
  if (zmq_poll(items.data(), static_cast<int>(items.size()), poll_ms(std::min(until, below_->next_turn()))) < 0) {
    // A signal: whoever waits looks for himself.
  }
  below_->turn();
  note_losses();
}

void front_end::note_losses() {
  reducer& open = below_->open();
  if (!open.has_news()) return;
  answer news = open.take();
  for (const auto& range : news.agents.ranges()) {
    for (std::uint64_t n = std::max(range.first, 1U); n <= range.last && n <= agents_.size(); ++n) {
      agent_facts& agent = agents_[n - 1];
      agent.why.reset();
      // Not the empty braces: they keep the memory.
      agent.ranks = std::vector<rank_process>();
      unheard_.erase(agent.address.key);
    }
  }
  for (agent_problem& problem : news.problems) {
    if (problem.agent < 1 || problem.agent > agents_.size()) continue;
    // Said together with an answer, it has been lost after that. The first says why; that it cannot be reached any more
    // follows from it.
    auto& why = agents_[problem.agent - 1].why;
    if (!why) why = std::move(problem.why);
  }
  if (!news.what) return;
  if (answer_) {
    merge(*answer_, std::move(*news.what));
  } else {
    answer_ = std::move(news.what);
  }
}

void front_end::ask(question what, std::chrono::milliseconds limit) {
  // Who has gone since the last question is not waited for.
  turn(clock::now());
  answer_.reset();
  answered_by_ = clock::now() + limit;
  below_->put({++questions_, static_cast<std::uint32_t>(limit.count()), std::move(what)});
}

gathered front_end::collect(const collect_terms& terms) {
  gathered all;
  const auto is_missing = [this](std::size_t i) {
    return !below_->open().covered().contains(static_cast<std::uint32_t>(i + 1));
  };
  std::size_t settled = 0;  // those before it have answered, or are lost: that does not change any more
  const auto waits = [&] {
    while (settled < agents_.size() && (agents_[settled].why || !is_missing(settled))) ++settled;
    return settled < agents_.size();
  };
  // What has come while we were busy elsewhere counts, however late it is now.
  turn(clock::now());
  int stop = terms.stop;
  while (waits() && clock::now() < answered_by_) {
    if (can_be_read(stop)) {
      stop = -1;
      below_->hurry();
      answered_by_ = std::min(answered_by_, clock::now() + hurried_answers_limit);
    }
    turn(answered_by_, stop);
    if (terms.progress) terms.progress(below_->progress());
  }
  if (terms.progress) terms.progress(below_->progress());
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (!is_missing(i)) continue;
    all.missing.push_back(
        {static_cast<std::uint32_t>(i + 1),
         agents_[i].why.value_or(error{error_code::timed_out, "its agent has not answered in time"})});
  }
  all.what = std::exchange(answer_, std::nullopt);
  return all;
}

}  // namespace mpiacq::agents
