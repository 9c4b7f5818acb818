// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/child_links.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "wire/protocol_times.hpp"

namespace mpiacq::agents {

namespace {

/// A child gets less time than its parent, by a tenth and at least by this, because its answer must still travel to the
/// root.
constexpr std::uint32_t least_margin_ms = 50;

/// Bounds the messages handled per turn, so that one peer cannot starve the others.
constexpr std::size_t most_messages = 10'000;

/// Counts heartbeats, not time: a parent that was stopped or busy has sent none meanwhile.
constexpr std::uint32_t most_unanswered = silent_at_most / between_heartbeats;

error agent_ended() {
  return {error_code::system, "its agent has ended, or cannot be reached any more"};
}

error agent_silent() {
  return {error_code::timed_out, "its agent is silent, though its host can be reached: it is stopped, or gets no time"};
}

std::uint32_t time_for_child(std::int64_t left_ms) {
  const std::int64_t margin = std::max<std::int64_t>(least_margin_ms, left_ms / 10);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(left_ms - margin, 1));
}

}  // namespace

void child_links::turn(const pulse& beat) {
  for (std::size_t taken = 0; taken < most_messages; ++taken) {
    auto come = listener_.receive(beat);
    if (!come) break;
    if (received) received(come->bytes);
    take(std::move(*come));
  }
  if (clock::now() < next_heartbeat_) return;
  send_heartbeats();
  next_heartbeat_ = clock::now() + (waits() ? between_heartbeats : between_idle_heartbeats);
}

/// Sends each child a heartbeat; a child that owes an answer replies. A silent child remains a child: it may resume,
/// and its messages count again then.
void child_links::send_heartbeats() {
  for (auto i = children_.begin(); i != children_.end();) {
    child& known = i->second;
    if (listener_.send(i->first, heartbeat{}) == sending::gone) {
      const std::uint32_t number = known.number;
      i = children_.erase(i);
      report_lost(number, agent_ended());
      continue;
    }
    if (known.owes_answer && known.unanswered++ == most_unanswered) {
      known.owes_answer = false;
      report_lost(known.number, agent_silent());
    }
    ++i;
  }
}

void child_links::show_alive() {
  for (const auto& [peer, known] : children_) static_cast<void>(listener_.send(peer, heartbeat{}));
}

void child_links::take(arrival&& come) {
  if (const auto* greeting = std::get_if<hello>(&come.what)) {
    if (greeting->number != 0) return adopt(come.from, greeting->number);
    if (newcomer) return newcomer(come.from, *greeting);
    return listener_.forget(come.from);
  }
  const auto from = children_.find(come.from);
  if (from == children_.end()) return;
  from->second.unanswered = 0;
  if (auto* part = std::get_if<answer>(&come.what)) {
    take_answer(from->second, std::move(*part));
  } else if (const auto* progress = std::get_if<heartbeat>(&come.what)) {
    from->second.progress = *progress;
  } else if (std::holds_alternative<goodbye>(come.what)) {
    const std::uint32_t number = from->second.number;
    static_cast<void>(listener_.send(come.from, goodbye{}));  // the child may end now: all of its messages have come
    children_.erase(from);
    report_lost(number, agent_ended());
  }
}

void child_links::take_answer(child& from, answer&& part) {
  // An answer that only reports problems is not the child's answer yet.
  if (part.number == open_.number() && part.what) {
    from.owes_answer = false;
    from.progress.done = from.progress.all;
  }
  // An agent that has moved from this child to this parent is not lost, although the child has lost it.
  std::erase_if(part.problems, [&](const agent_problem& one) { return one.agent != from.number && has(one.agent); });
  open_.add(std::move(part));
}

void child_links::adopt(const peer_name& peer, std::uint32_t number) {
  // The child may have connected again before the end of its first connection was seen.
  std::erase_if(children_, [&](const auto& known) { return known.second.number == number && known.first != peer; });
  child& added = children_[peer];
  added.number = number;
  static_cast<void>(listener_.send(peer, welcome{}));
  if (const auto open = open_question()) {
    added.owes_answer = true;
    static_cast<void>(listener_.send(peer, *open));
  }
}

bool child_links::has(std::uint32_t number) const {
  return std::any_of(children_.begin(), children_.end(),
                     [number](const auto& known) { return known.second.number == number; });
}

void child_links::report_lost(std::uint32_t agent, error why) {
  answer only_problem;
  only_problem.number = open_.number();
  only_problem.problems.push_back({agent, std::move(why)});
  open_.add(std::move(only_problem));
}

std::optional<ask> child_links::open_question() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(answer_by_ - clock::now()).count();
  if (!asked_ || left <= 0) return std::nullopt;
  ask again = *asked_;
  again.limit_ms = time_for_child(left);
  return again;
}

void child_links::put(const ask& what) {
  asked_ = what;
  answer_by_ = clock::now() + std::chrono::milliseconds{what.limit_ms};
  open_ = reducer(what.number);
  ask for_children = what;
  for_children.limit_ms = time_for_child(what.limit_ms);
  for (auto& [peer, known] : children_) {
    // The next heartbeat finds a child that cannot be reached.
    known.progress = {};
    known.owes_answer = listener_.send(peer, for_children) == sending::done && known.unanswered <= most_unanswered;
  }
  next_heartbeat_ = std::min(next_heartbeat_, clock::now() + between_heartbeats);
}

void child_links::finish_now() {
  for (const auto& [peer, known] : children_) static_cast<void>(listener_.send(peer, finish_early{open_.number()}));
}

heartbeat child_links::progress() const {
  heartbeat all;
  for (const auto& [peer, known] : children_) {
    // The numbers are the child's own claim: the sum must not overflow.
    all.done += std::min<std::uint64_t>(known.progress.done, UINT32_MAX);
    all.all += std::min<std::uint64_t>(known.progress.all, UINT32_MAX);
  }
  return all;
}

bool child_links::all_answered() const {
  return std::none_of(children_.begin(), children_.end(), [](const auto& known) { return known.second.owes_answer; });
}

void child_links::say_goodbye() {
  for (const auto& [peer, known] : children_) static_cast<void>(listener_.send(peer, goodbye{}));
  children_.clear();
}

}  // namespace mpiacq::agents
