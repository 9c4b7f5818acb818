// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Follows the ranks of a node to their ends.
#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "ends/end_facts.hpp"
#include "errors/no_exceptions.hpp"
#include "node_ranks_state.hpp"
#include "proc/process_state.hpp"
#include "rank_questions.hpp"

namespace mpiacq {

std::vector<rank_hold> node_ranks::follow_ends(const follow_options& options) {
  (void)release();
  state_->take_events();
  state_->look_for_ends();
  state_->follow_ends(options);
  std::vector<rank_hold> outcomes;
  for (const auto& rank : state_->here) {
    rank_hold outcome = rank.hold;
    outcome.state = rank.not_followed ? state_of_failure(*rank.not_followed) : hold_state::held;
    outcome.why = rank.not_followed;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

void node_ranks::state::follow_ends(const follow_options& options) {
  std::vector<attach_target> targets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < here.size(); ++i) {
    here[i].not_followed.reset();
    if (here[i].identity.state == hold_state::held) {
      targets.push_back({ranks[i].pid, here[i].identity.start_time, ranks[i].user});
      places.push_back(i);
    } else {
      here[i].not_followed = here[i].identity.why.value_or(error{error_code::process_gone, "it has ended"});
    }
  }
  ends.kills_before = out_of_memory_kills();
  // Whether a rank is stopped can be seen only while it has no tracer.
  std::vector<bool> to_continue(targets.size());
  for (std::size_t i = 0; i < targets.size() && options.continue_stopped; ++i)
    to_continue[i] = is_stopped_by_signal(targets[i].process);
  const auto outcomes = grip->follow(targets);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!outcomes[i]) here[places[i]].not_followed = outcomes[i].error();
    // The number belongs to this rank as long as it is followed.
    if (outcomes[i] && to_continue[i]) signal_process(open_process(targets[i].process), SIGCONT);
  }
  ends.signal = end_signal(grip->event_descriptor());
  ends.is_on = true;
}

void node_ranks::unfollow_ends() {
  state_->unfollow_ends();
}

void node_ranks::state::unfollow_ends() {
  if (!std::exchange(ends.is_on, false)) return;
  grip->unfollow();
  ends.pending.clear();
  ends.known.clear();
  ends.without_stack.clear();
  for (rank_here& rank : here) {
    rank.held = false;
    if (std::exchange(rank.at_end, false)) rank.identity.state = hold_state::gone;
  }
  take_events();
}

int node_ranks::ends_descriptor() const {
  return state_->ends.is_on ? state_->ends.signal.descriptor() : -1;
}

void node_ranks::serve_ends() {
  (void)without_exceptions("following ranks to their ends", [&]() -> result<void> {
    state_->serve_ends();
    return {};
  });
}

/// The first failure holds all ranks of the node. Ranks that fail while others are being stopped are judged, too.
void node_ranks::state::serve_ends() {
  if (!ends.is_on) return;
  take_events();
  ends.signal.clear();
  while (judge_ends()) {
    look_for_ends();
    take_hold();
    take_events();
  }
  if (ends.without_stack.empty()) return;
  merge(ends.stacks, merged(end_stacks_of(std::exchange(ends.without_stack, {}))));
}

void node_ranks::state::note_end(std::size_t place, const process_ending& how) {
  ends.pending.emplace_back(place, how);
  ends.signal.set();
}

/// Lets ranks end that end as they should. True: another rank has failed.
bool node_ranks::state::judge_ends() {
  bool has_failed = false;
  for (const auto& [place, how] : std::exchange(ends.pending, {})) {
    rank_here& rank = here[place];
    const ended_rank ended{place, how.thread};
    // Two seconds after the kernel has killed a process for lack of memory, it frees the process's memory, and the
    // stack can no longer be read. So the stack is read before everything else.
    std::optional<node_stacks> first;
    if (seems_out_of_memory(how, ends.kills_before)) first = end_stacks_of({&ended, 1});
    rank_end end = read_end(ranks[place], how, *grip, debug_files, ends.kills_before);
    if (is_failure(end)) {
      ends.known[end.pid] = end;
      ends.failed.push_back(std::move(end));
      if (first) {
        merge(ends.stacks, merged(std::move(*first)));
      } else {
        ends.without_stack.push_back(ended);
      }
      has_failed = true;
      continue;
    }
    const std::array<process_id, 1> one = {ranks[place].pid};
    (void)grip->let_go(one);
    rank.held = rank.at_end = false;
    rank.identity.state = hold_state::gone;
    rank.identity.why = error{error_code::process_gone, "it has ended"};
    ends.ended.add(ranks[place].entry);
  }
  return has_failed;
}

/// Takes the stack of the thread that has ended each of these ranks.
node_stacks node_ranks::state::end_stacks_of(std::span<const ended_rank> ended) {
  if (!stacks) stacks = std::make_unique<stack_taker>(*grip, debug_files);
  std::vector<wanted_rank> wanted;
  for (const auto& [place, thread] : ended) {
    const rank_process& rank = ranks[place];
    wanted.push_back({rank.entry, {rank.pid, here[place].identity.start_time, rank.user}, rank.entry.value(), true});
  }
  stack_options all;
  all.threads = which_threads::all;
  node_stacks taken = stacks->take(wanted, all);
  for (std::size_t i = 0; i < taken.ranks.size(); ++i) {
    auto& threads = taken.ranks[i].threads;
    const auto ended_it = [&](const thread_stack& stack) { return stack.thread == ended[i].thread; };
    const bool is_there = std::any_of(threads.begin(), threads.end(), ended_it);
    if (is_there) std::erase_if(threads, [&](const thread_stack& stack) { return !ended_it(stack); });
  }
  return taken;
}

group_ends node_ranks::ends() {
  serve_ends();
  group_ends all;
  followed_ends& ends = state_->ends;
  all.failed = std::exchange(ends.failed, {});
  all.ended = std::exchange(ends.ended, {});
  all.stacks = std::exchange(ends.stacks, {});
  for (std::size_t i = 0; i < state_->here.size(); ++i) {
    const auto& rank = state_->here[i];
    const entry_index entry = state_->ranks[i].entry;
    if (rank.not_followed) {
      all.refused.push_back({rank_set(entry), *rank.not_followed});
    } else if (rank.identity.state == hold_state::held) {
      all.followed.add(entry);
    }
  }
  return all;
}

}  // namespace mpiacq
