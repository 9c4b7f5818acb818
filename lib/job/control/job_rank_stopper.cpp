// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/job_rank_stopper.hpp"

#include <utility>

#include <fmt/format.h>

namespace mpiacq {

namespace {

/// Asks `ours` and `others` about their parts of a list, and gives the answers in the order of the list.
template <class Answer, class Item, class Pid, class IsOurs, class Ours, class Others>
std::vector<Answer> both_parts(std::span<const Item> items, Pid pid_of, IsOurs is_ours, Ours ours, Others others) {
  std::vector<Item> mine, theirs;
  std::vector<bool> is_mine;
  for (const Item& item : items) {
    is_mine.push_back(is_ours(pid_of(item)));
    (is_mine.back() ? mine : theirs).push_back(item);
  }
  auto my_answers = mine.empty() ? std::vector<Answer>{} : ours(std::span<const Item>(mine));
  auto their_answers = theirs.empty() ? std::vector<Answer>{} : others(std::span<const Item>(theirs));
  std::vector<Answer> all;
  auto my = my_answers.begin();
  auto their = their_answers.begin();
  for (const bool is : is_mine) all.push_back(std::move(is ? *my++ : *their++));
  return all;
}

process_id itself(process_id pid) {
  return pid;
}

}  // namespace

job_rank_stopper::~job_rank_stopper() {
  const std::vector<process_id> held(interrupted_.begin(), interrupted_.end());
  (void)let_go(held, leave::running);
}

std::vector<result<void>> job_rank_stopper::take(std::span<const attach_target> ranks) {
  return both_parts<result<void>>(
      ranks, [](const attach_target& one) { return one.process; }, [this](process_id pid) { return loop_.traces(pid); },
      [this](std::span<const attach_target> traced) { return stop_traced(traced); },
      [this](std::span<const attach_target> others) { return attach_others(others); });
}

std::vector<result<void>> job_rank_stopper::stop_traced(std::span<const attach_target> ranks) {
  std::vector<process_id> pids;
  for (const attach_target& one : ranks) {
    pids.push_back(one.process);
    followed_process* const process = loop_.find(one.process);
    if (process == nullptr || process->stopped) continue;  // it is held already, and stays so
    process->stays = true;
    interrupted_.insert(one.process);
  }
  loop_.stop_all(pids);
  std::vector<result<void>> outcomes;
  for (const process_id pid : pids) {
    const followed_process* process = loop_.find(pid);
    const bool is_held = process == nullptr ? loop_.traces(pid) : process->stopped && !process->ended;
    if (is_held) {
      outcomes.emplace_back();
      continue;
    }
    const bool is_gone = process == nullptr || process->ended;
    outcomes.emplace_back(
        fail(is_gone ? error_code::process_gone : error_code::timed_out,
             fmt::format("process {}: {}", pid.value(), is_gone ? "it has ended" : "not all of its threads stop")));
  }
  return outcomes;
}

std::vector<result<void>> job_rank_stopper::attach_others(std::span<const attach_target> ranks) {
  if (!second_) {
    auto made = tracer::create(options_);
    if (!made) return std::vector<result<void>>(ranks.size(), fail(made.error()));
    second_ = std::move(*made);
  }
  return second_->attach_all(ranks);
}

std::vector<result<void>> job_rank_stopper::let_go(std::span<const process_id> ranks, leave how) {
  const auto ours = [&](std::span<const process_id> followed) {
    for (const process_id pid : followed) {
      if (interrupted_.erase(pid) == 0 || how == leave::stopped) continue;
      followed_process& process = *loop_.find(pid);
      process.stays = false;
      // It may have run into an event on its way.
      if (process.stopped && !process.waits) loop_.run_on(process);
    }
    return std::vector<result<void>>(followed.size());
  };
  return both_parts<result<void>>(
      ranks, itself, [this](process_id pid) { return loop_.traces(pid); }, ours,
      [&](std::span<const process_id> others) {
        return second_ ? second_->detach_all(others, how) : std::vector<result<void>>(others.size());
      });
}

std::vector<result<std::vector<thread_registers>>> job_rank_stopper::registers(std::span<const process_id> ranks,
                                                                               which_threads which,
                                                                               register_sets sets) const {
  using answer = result<std::vector<thread_registers>>;
  return both_parts<answer>(
      ranks, itself, [this](process_id pid) { return loop_.traces(pid); },
      [&](std::span<const process_id> followed) { return control_.registers(followed, which, sets); },
      [&](std::span<const process_id> others) {
        if (second_) return second_->registers(others, which, sets);
        return std::vector<answer>(others.size(), fail(error_code::process_gone, "it has ended"));
      });
}

void job_rank_stopper::keep_held() {
  (void)control_.keep_held();
  if (second_) (void)second_->keep_held();
}

bool job_rank_stopper::is_in_group_stop(process_id rank) const {
  const followed_process* process = loop_.find(rank);
  return process != nullptr && process->in_group_stop;
}

std::optional<process_event> job_rank_stopper::next_event() {
  if (!second_) return std::nullopt;
  auto event = second_->wait(clock::now());
  return event ? std::move(*event) : std::nullopt;
}

}  // namespace mpiacq
