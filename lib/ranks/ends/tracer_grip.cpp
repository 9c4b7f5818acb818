// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "ends/tracer_grip.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "mpiacq/process/process_user.hpp"

namespace mpiacq {

std::vector<result<void>> tracer_grip::take(std::span<const attach_target> ranks) {
  if (followed_.empty()) return control_->attach_all(ranks);
  std::vector<attach_target> ours, others;
  for (const attach_target& rank : ranks) (followed_.contains(rank.process) ? ours : others).push_back(rank);
  stop_followed(ours);
  std::vector<result<void>> attached;
  if (!others.empty()) attached = control_->attach_all(others);
  std::vector<result<void>> outcomes;
  auto next_attached = attached.begin();
  auto next_other = others.begin();
  for (const attach_target& rank : ranks) {
    const bool is_other = next_other != others.end() && next_other->process == rank.process;
    if (is_other) {
      outcomes.push_back(std::move(*next_attached++));
      ++next_other;
    } else {
      outcomes.push_back(outcome_of(rank));
    }
  }
  return outcomes;
}

/// All are asked to stop before any is waited for.
void tracer_grip::stop_followed(std::span<const attach_target> ranks) {
  take_events();
  std::set<process_id> awaited;
  for (const attach_target& rank : ranks) {
    const auto known = followed_.find(rank.process);
    if (known == followed_.end()) continue;
    wanted_.insert(rank.process);
    if (known->second.now == condition::running && control_->interrupt(rank.process)) awaited.insert(rank.process);
  }
  const deadline until = clock::now() + stop_limit_;
  const auto has_stopped = [this](process_id pid) {
    const auto known = followed_.find(pid);
    return known == followed_.end() || known->second.now != condition::running;
  };
  while (!std::all_of(awaited.begin(), awaited.end(), has_stopped)) {
    auto event = control_->wait(until);
    if (!event || !*event) return;
    handle(std::move(**event));
  }
}

result<void> tracer_grip::outcome_of(const attach_target& rank) const {
  const auto known = followed_.find(rank.process);
  const std::int64_t pid = rank.process.value();
  if (known == followed_.end()) return fail(error_code::process_gone, fmt::format("process {} has ended", pid));
  if (known->second.now == condition::running) {
    return fail(error_code::timed_out,
                fmt::format("process {}: not all of its threads have stopped within {} ms", pid, stop_limit_.count()));
  }
  return {};
}

std::vector<result<void>> tracer_grip::let_go(std::span<const process_id> ranks, leave how) {
  if (followed_.empty()) return control_->detach_all(ranks, how);
  std::vector<result<void>> outcomes(ranks.size());
  std::vector<process_id> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto known = followed_.find(ranks[i]);
    const bool stays = known != followed_.end() && how == leave::running;
    if (stays) {
      settle(ranks[i]);
      continue;
    }
    if (known != followed_.end()) {
      followed_.erase(known);
      wanted_.erase(ranks[i]);
    }
    others.push_back(ranks[i]);
    places.push_back(i);
  }
  if (others.empty()) return outcomes;
  auto detached = control_->detach_all(others, how);
  for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(detached[i]);
  return outcomes;
}

/// Nobody wants this followed rank to be stopped any more.
void tracer_grip::settle(process_id pid) {
  wanted_.erase(pid);
  followed_rank& rank = followed_.at(pid);
  const bool may_run = rank.now == condition::stopped || (rank.now == condition::ending && rank.end_told);
  if (!may_run) return;
  (void)control_->resume(pid);
  if (rank.now == condition::ending) {
    followed_.erase(pid);
  } else {
    rank.now = condition::running;
  }
}

std::vector<result<std::vector<thread_registers>>> tracer_grip::registers(std::span<const process_id> ranks,
                                                                          which_threads which,
                                                                          register_sets sets) const {
  return control_->registers(ranks, which, sets);
}

std::optional<process_event> tracer_grip::next_event() {
  take_events();
  if (events_.empty()) return std::nullopt;
  process_event first = std::move(events_.front());
  events_.pop_front();
  const auto known = followed_.find(first.process);
  if (known != followed_.end() && std::holds_alternative<process_ending>(first.what)) known->second.end_told = true;
  return first;
}

void tracer_grip::take_events() {
  for (;;) {
    auto event = control_->wait(clock::now());
    if (!event || !*event) return;
    handle(std::move(**event));
  }
}

void tracer_grip::handle(process_event event) {
  const auto known = followed_.find(event.process);
  if (known == followed_.end()) {
    // A stop that was requested before the rank's end is reported after it.
    if (std::holds_alternative<interrupted>(event.what)) {
      (void)control_->resume(event.process);
    } else if (!std::holds_alternative<process_ending>(event.what)) {  // of a rank that was let go: it has ended
      events_.push_back(std::move(event));
    }
    return;
  }
  followed_rank& rank = known->second;
  const bool stops =
      std::holds_alternative<interrupted>(event.what) || std::holds_alternative<entry_reached>(event.what);
  if (stops) {
    // After an exec of a set-user-ID program, the process is no rank of this user any more.
    const auto& user = rank.target.user;
    if (std::holds_alternative<entry_reached>(event.what) && user && user_of(event.process) != *user) {
      (void)control_->detach(event.process);
      followed_.erase(known);
      wanted_.erase(event.process);
      return;
    }
    rank.now = condition::stopped;
    if (!wanted_.contains(event.process)) settle(event.process);
    return;
  }
  if (std::holds_alternative<process_ending>(event.what)) {
    rank.now = condition::ending;
    rank.end_told = false;
  } else if (std::holds_alternative<process_ended>(event.what) || std::holds_alternative<control_lost>(event.what)) {
    followed_.erase(known);
    wanted_.erase(event.process);
  }
  events_.push_back(std::move(event));
}

std::vector<result<void>> tracer_grip::follow(std::span<const attach_target> ranks) {
  auto outcomes = control_->attach_all(ranks, {.report_end = true});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) continue;
    const process_id pid = ranks[i].process;
    followed_[pid] = {condition::stopped, false, ranks[i]};
    settle(pid);
  }
  return outcomes;
}

void tracer_grip::unfollow() {
  std::vector<process_id> all;
  for (const auto& [pid, rank] : followed_) all.push_back(pid);
  followed_.clear();
  wanted_.clear();
  if (!all.empty()) (void)control_->detach_all(all);
}

}  // namespace mpiacq
