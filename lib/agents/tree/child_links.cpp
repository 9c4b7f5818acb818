// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/child_links.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mpiacq::agents {

namespace {

/// Children are told less time than there is: what they have must come up in time, too.
constexpr std::uint32_t least_margin_ms = 50;

/// Whoever talks without end does not keep others from what is to be done beside: the next turn goes on with it.
constexpr std::size_t most_at_a_time = 10'000;

/// Looks, not time: whoever was stopped himself, or busy elsewhere, has not looked meanwhile.
constexpr std::uint32_t most_unheard = silent_at_most / between_signs;

// Its ranks are as they were: what has ended is the agent.
error is_gone() {
  return {error_code::system, "its agent has ended, or cannot be reached any more"};
}

error is_silent() {
  return {error_code::timed_out, "its agent is silent, though its host can be reached: it is stopped, or gets no time"};
}

std::uint32_t less_time(std::int64_t left_ms) {
  const std::int64_t margin = std::max<std::int64_t>(least_margin_ms, left_ms / 10);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(left_ms - margin, 1));
}

}  // namespace

void child_links::turn() {
  for (std::size_t taken = 0; taken < most_at_a_time; ++taken) {
    auto come = zap_handler_.receive();
    if (!come) break;
    if (received) received(come->bytes);
    take(std::move(*come));
  }
  if (clock::now() < next_look_) return;
  look();
  next_look_ = clock::now() + (waits() ? between_signs : between_idle_signs);
}

/// Each child is told that we are here, which one that owes an answer answers. One that does not is still a child: it
/// may go on some day, and whatever it says then counts.
void child_links::look() {
  for (auto i = children_.begin(); i != children_.end();) {
    child& known = i->second;
    if (zap_handler_.send(i->first, alive{}) == sending::gone) {
      const child lost = known;
      i = children_.erase(i);
      lose(lost, is_gone());
      continue;
    }
    if (known.waited_for && known.unheard++ == most_unheard) {
      known.waited_for = false;
      lose(known, is_silent());
    }
    ++i;
  }
}

void child_links::take(arrival&& come) {
  if (const auto* greeting = std::get_if<hello>(&come.what)) {
    if (greeting->number != 0) return adopt(come.from, greeting->number);
    if (newcomer) return newcomer(come.from, *greeting);
    return zap_handler_.forget(come.from);
  }
  const auto from = children_.find(come.from);
  if (from == children_.end()) return;
  from->second.unheard = 0;
  if (auto* said = std::get_if<answer>(&come.what)) {
    // One that only tells of problems has not answered yet.
    if (said->number == open_.number() && said->what) {
      from->second.waited_for = false;
      from->second.progress.done = from->second.progress.all;
    }
    // Whoever has come here since is not lost, though the one that it answered to before has lost it.
    std::erase_if(said->problems,
                  [&](const agent_problem& one) { return one.agent != from->second.number && has(one.agent); });
    open_.add(std::move(*said));
  } else if (const auto* far = std::get_if<alive>(&come.what)) {
    from->second.progress = *far;
  } else if (std::holds_alternative<farewell>(come.what)) {
    const child lost = from->second;
    children_.erase(from);
    lose(lost, is_gone());
  }
}

void child_links::adopt(const peer_name& peer, std::uint32_t number) {
  // It has come again, by another connection, before the end of the first was seen.
  std::erase_if(children_, [&](const auto& known) { return known.second.number == number && known.first != peer; });
  child& added = children_[peer];
  added.number = number;
  static_cast<void>(zap_handler_.send(peer, welcome{}));
  if (const auto now = question_now()) {
    added.waited_for = true;
    static_cast<void>(zap_handler_.send(peer, *now));
  }
}

bool child_links::has(std::uint32_t number) const {
  return std::any_of(children_.begin(), children_.end(),
                     [number](const auto& known) { return known.second.number == number; });
}

void child_links::lose(const child& lost, error why) {
  answer only_problem;
  only_problem.number = open_.number();
  only_problem.problems.push_back({lost.number, std::move(why)});
  open_.add(std::move(only_problem));
}

std::optional<ask> child_links::question_now() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(asked_until_ - clock::now()).count();
  if (!asked_ || left <= 0) return std::nullopt;
  ask put_now = *asked_;
  put_now.limit_ms = less_time(left);
  return put_now;
}

void child_links::put(const ask& what) {
  asked_ = what;
  asked_until_ = clock::now() + std::chrono::milliseconds{what.limit_ms};
  open_ = reducer(what.number);
  for (auto& [peer, known] : children_) {
    // One that cannot be reached is found by the next look after it.
    known.progress = {};
    known.waited_for = zap_handler_.send(peer, *question_now()) == sending::done && known.unheard <= most_unheard;
  }
  next_look_ = std::min(next_look_, clock::now() + between_signs);
}

void child_links::hurry() {
  for (const auto& [peer, known] : children_) static_cast<void>(zap_handler_.send(peer, enough{open_.number()}));
}

alive child_links::progress() const {
  alive all;
  for (const auto& [peer, known] : children_) {
    // What one says is its own word: no sum of them runs over.
    all.done += std::min<std::uint64_t>(known.progress.done, UINT32_MAX);
    all.all += std::min<std::uint64_t>(known.progress.all, UINT32_MAX);
  }
  return all;
}

bool child_links::all_answered() const {
  return std::none_of(children_.begin(), children_.end(), [](const auto& known) { return known.second.waited_for; });
}

void child_links::say_farewell() {
  for (const auto& [peer, known] : children_) static_cast<void>(zap_handler_.send(peer, farewell{}));
  children_.clear();
}

}  // namespace mpiacq::agents
