// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/job_rank_stopper.hpp"

#include <utility>

#include <fmt/format.h>

#include "node_ranks_state.hpp"

namespace mpiacq {

namespace {

/// Asks two about their parts of a list, and gives the answers in the list's order.
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

job::state::job_rank_stopper::~job_rank_stopper() {
  const std::vector<process_id> held(interrupted_.begin(), interrupted_.end());
  (void)let_go(held, leave::running);
}

/// What was taken for the starter once, and let go since, is not the job's any more.
bool job::state::job_rank_stopper::is_the_jobs(process_id rank) const {
  if (job_.detached) return false;
  const followed_process* process = job_.find(rank);
  // A rank that `job::hold_ranks` holds has no interface that is followed: the job traces it, and no more.
  if (process == nullptr) return job_.ranks->holds(rank);
  return !process->ended && (process == job_.starter || process->is_member);
}

std::vector<result<void>> job::state::job_rank_stopper::take(std::span<const attach_target> ranks) {
  const auto ours = [this](std::span<const attach_target> followed) {
    std::vector<process_id> pids;
    for (const attach_target& one : followed) {
      pids.push_back(one.process);
      followed_process* const process = job_.find(one.process);
      if (process == nullptr || process->stopped) continue;  // it is held already, and stays so
      process->stays = true;
      interrupted_.insert(one.process);
    }
    job_.stop_all(pids);
    std::vector<result<void>> outcomes;
    for (const process_id pid : pids) {
      const followed_process* process = job_.find(pid);
      if (process == nullptr && job_.ranks->holds(pid)) {
        outcomes.emplace_back();
        continue;
      }
      const bool is_gone = process == nullptr || process->ended;
      const auto code = is_gone ? error_code::process_gone : error_code::timed_out;
      const auto why = is_gone ? "it has ended" : "not all of its threads stop";
      outcomes.push_back(!is_gone && process->stopped ? result<void>{}
                                                      : fail(code, fmt::format("process {}: {}", pid.value(), why)));
    }
    return outcomes;
  };
  return both_parts<result<void>>(
      ranks, [](const attach_target& one) { return one.process; }, [this](process_id pid) { return is_the_jobs(pid); },
      ours, [this](std::span<const attach_target> others) { return take_others(others); });
}

std::vector<result<void>> job::state::job_rank_stopper::take_others(std::span<const attach_target> ranks) {
  if (!beside_) {
    auto made = tracer::create(options_);
    if (!made) return std::vector<result<void>>(ranks.size(), fail(made.error()));
    beside_ = std::move(*made);
  }
  return beside_->attach_all(ranks);
}

std::vector<result<void>> job::state::job_rank_stopper::let_go(std::span<const process_id> ranks, leave how) {
  const auto ours = [&](std::span<const process_id> followed) {
    for (const process_id pid : followed) {
      if (interrupted_.erase(pid) == 0 || how == leave::stopped) continue;
      followed_process& process = *job_.find(pid);
      process.stays = false;
      // It may have run into an event on its way.
      if (process.stopped && !process.waits) job_.run_on(process);
    }
    return std::vector<result<void>>(followed.size());
  };
  return both_parts<result<void>>(
      ranks, itself, [this](process_id pid) { return is_the_jobs(pid); }, ours,
      [&](std::span<const process_id> others) {
        return beside_ ? beside_->detach_all(others, how) : std::vector<result<void>>(others.size());
      });
}

std::vector<result<std::vector<thread_registers>>> job::state::job_rank_stopper::registers(
    std::span<const process_id> ranks, which_threads which) const {
  using answer = result<std::vector<thread_registers>>;
  return both_parts<answer>(
      ranks, itself, [this](process_id pid) { return is_the_jobs(pid); },
      [&](std::span<const process_id> followed) { return job_.control->registers(followed, which); },
      [&](std::span<const process_id> others) {
        if (beside_) return beside_->registers(others, which);
        return std::vector<answer>(others.size(), fail(error_code::process_gone, "it has ended"));
      });
}

void job::state::job_rank_stopper::keep_held() {
  (void)job_.control->keep_held();
  if (beside_) (void)beside_->keep_held();
}

std::optional<process_event> job::state::job_rank_stopper::next_event() {
  if (!beside_) return std::nullopt;
  auto event = beside_->wait(clock::now());
  return event ? std::move(*event) : std::nullopt;
}

result<std::unique_ptr<node_ranks>> job::look_into(const rank_selection& ranks, const node_ranks_options& options) {
  const auto table = processes();
  if (!table) return fail(error_code::invalid_argument, "the job has no processes yet");
  return node_ranks::create(*table, ranks, options,
                            std::make_unique<state::job_rank_stopper>(*state_, options.tracing));
}

result<bool> job::lend(process_id rank) {
  if (auto here = state_->is_made_here(); !here) return fail(std::move(here).error());
  if (state_->detached || state_->ended) return true;
  return state_->ranks->lend(rank);
}

void job::take_back(process_id rank) {
  if (state_->is_made_here() && !state_->detached && !state_->ended) state_->ranks->take_back(rank);
}

}  // namespace mpiacq
