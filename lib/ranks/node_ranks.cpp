// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_ranks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "ends/tracer_grip.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job_description.hpp"
#include "node_ranks_state.hpp"
#include "proc/process_state.hpp"
#include "worker_pool.hpp"

namespace mpiacq {

namespace {

constexpr std::string_view looking_for_ranks = "looking for ranks of this node";

std::vector<rank_process> local_ones(const process_table& table, const rank_selection& selection) {
  const entry_locality locality(table);
  std::vector<rank_process> ranks;
  for (const entry_index entry : table.names().selected(selection, table.size())) {
    if (locality.is_local(entry)) ranks.push_back(rank_of(table, entry));
  }
  return ranks;
}

/// As `identify`, without exceptions.
rank_identity identified(const rank_process& rank, bool compare) {
  rank_identity identity;
  const auto done = without_exceptions("looking at a process", [&]() -> result<void> {
    identity = identify(rank, compare);
    return {};
  });
  if (!done) {
    identity.state = hold_state::failed;
    identity.why = done.error();
  }
  return identity;
}

/// A process that several entries name is looked at once, as the first of them.
rank_identity named_twice(const rank_process& rank, const rank_process& first) {
  rank_identity identity;
  identity.state = hold_state::failed;
  // All entries get the same sentence, so that a report can group them.
  identity.why = error{error_code::bad_format,
                       fmt::format("the table names process {} more than once: it is looked at as rank {} alone",
                                   rank.pid.value(), name_of(first))};
  return identity;
}

}  // namespace

hold_state state_of_failure(const error& e) {
  switch (e.code) {
    case error_code::process_gone:
    case error_code::not_found:
      return hold_state::gone;
    case error_code::permission:
      return hold_state::not_permitted;
    case error_code::busy:
      return hold_state::busy;
    default:
      return hold_state::failed;
  }
}

rank_process rank_of(const process_table& table, entry_index entry) {
  return {entry,
          table.pid(entry),
          std::string(table.executable_name(entry).value_or("")),
          table.names().rank(entry),
          table.names().of(entry),
          table.user()};
}

std::string name_of(const rank_process& rank) {
  return rank.name.empty() ? std::to_string(rank.entry.value()) : rank.name;
}

std::string_view name(hold_state state) {
  switch (state) {
    case hold_state::held:
      return "held";
    case hold_state::gone:
      return "gone";
    case hold_state::replaced:
      return "replaced";
    case hold_state::not_permitted:
      return "not-permitted";
    case hold_state::busy:
      return "busy";
    case hold_state::failed:
      break;
  }
  return "failed";
}

node_ranks::node_ranks(std::unique_ptr<state> s) : state_(std::move(s)) {}
node_ranks::~node_ranks() = default;

result<std::unique_ptr<node_ranks>> node_ranks::create(const process_table& table, const rank_selection& selection,
                                                       const node_ranks_options& options) {
  return without_exceptions(looking_for_ranks, [&]() -> result<std::unique_ptr<node_ranks>> {
    auto control = TRY(tracer::create(options.tracing));
    return create(table, selection, options,
                  std::make_unique<tracer_grip>(std::move(control), options.tracing.stop_limit));
  });
}

result<std::unique_ptr<node_ranks>> node_ranks::create(const process_table& table, const rank_selection& selection,
                                                       const node_ranks_options& options,
                                                       std::unique_ptr<rank_stopper> grip) {
  return without_exceptions(looking_for_ranks, [&]() -> result<std::unique_ptr<node_ranks>> {
    auto made = state::make(std::move(grip), local_ones(table, selection), true);
    made->debug_files = options.debug_files;
    return std::unique_ptr<node_ranks>(new node_ranks(std::move(made)));
  });
}

result<std::unique_ptr<node_ranks>> node_ranks::create(std::vector<rank_process> ranks,
                                                       const node_ranks_options& options) {
  return without_exceptions(looking_for_ranks, [&]() -> result<std::unique_ptr<node_ranks>> {
    auto control = TRY(tracer::create(options.tracing));
    auto made = state::make(std::make_unique<tracer_grip>(std::move(control), options.tracing.stop_limit),
                            std::move(ranks), true);
    made->debug_files = options.debug_files;
    return std::unique_ptr<node_ranks>(new node_ranks(std::move(made)));
  });
}

result<std::unique_ptr<node_ranks>> node_ranks::of_processes(std::span<const process_id> processes,
                                                             const node_ranks_options& options) {
  return without_exceptions(looking_for_ranks, [&]() -> result<std::unique_ptr<node_ranks>> {
    auto control = TRY(tracer::create(options.tracing));
    std::vector<rank_process> ranks;
    for (const process_id pid : processes) ranks.push_back({entry_index{ranks.size()}, pid, {}});
    auto made = state::make(std::make_unique<tracer_grip>(std::move(control), options.tracing.stop_limit),
                            std::move(ranks), false);
    made->debug_files = options.debug_files;
    return std::unique_ptr<node_ranks>(new node_ranks(std::move(made)));
  });
}

std::span<const rank_process> node_ranks::ranks() const {
  return state_->ranks;
}

std::vector<rank_hold> node_ranks::hold() {
  state_->take_events();
  state_->look_for_ends();
  state_->take_hold();
  state_->take_events();
  std::vector<rank_hold> outcomes;
  outcomes.reserve(state_->here.size());
  for (const auto& rank : state_->here) outcomes.push_back(rank.hold);
  return outcomes;
}

void node_ranks::keep_held() {
  state_->grip->keep_held();
}

std::size_t node_ranks::held_count() const {
  return static_cast<std::size_t>(
      std::count_if(state_->here.begin(), state_->here.end(), [](const auto& rank) { return rank.held; }));
}

std::vector<result<void>> node_ranks::release(leave how) {
  state_->take_events();
  // The memory of a rank that was killed while it was held is still there.
  if (state_->ends.is_on && state_->judge_ends()) state_->ends.signal.set();
  auto answers = state_->grip->let_go(state_->held_ones(), how);
  std::vector<result<void>> outcomes(state_->here.size());
  auto answer = answers.begin();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    // A rank that has ended meanwhile is not held any more, but its release was requested.
    if (!std::exchange(state_->here[i].asked, false)) continue;
    state_->here[i].held = false;
    if (std::exchange(state_->here[i].at_end, false)) state_->here[i].identity.state = hold_state::gone;
    if (!*answer && answer->error().code != error_code::process_gone) outcomes[i] = std::move(*answer);
    ++answer;
  }
  // Not before: a rank that was killed just now is held at its end further.
  state_->take_events();
  return outcomes;
}

std::vector<result<std::vector<thread_registers>>> node_ranks::registers(which_threads which) const {
  auto answers = state_->grip->registers(state_->held_ones(), which, register_sets::general);
  std::vector<result<std::vector<thread_registers>>> all;
  all.reserve(state_->here.size());
  auto answer = answers.begin();
  for (std::size_t i = 0; i < state_->here.size(); ++i) {
    if (std::exchange(state_->here[i].asked, false)) {
      all.push_back(std::move(*answer++));
    } else {
      all.emplace_back(
          fail(error_code::invalid_argument, fmt::format("rank {} is not held", name_of(state_->ranks[i]))));
    }
  }
  return all;
}

std::unique_ptr<node_ranks::state> node_ranks::state::make(std::unique_ptr<rank_stopper> grip,
                                                           std::vector<rank_process> ranks, bool compare) {
  auto made = std::make_unique<state>();
  made->grip = std::move(grip);
  made->ranks = std::move(ranks);
  made->here.resize(made->ranks.size());
  // A hostile table can name one process any number of times.
  for (std::size_t i = 0; i < made->ranks.size(); ++i) made->place_of.try_emplace(made->ranks[i].pid, i);
  on_all_processors(made->ranks.size(), [&](std::size_t i) {
    const std::size_t first = made->place_of.find(made->ranks[i].pid)->second;
    if (first == i) made->here[i].identity = identified(made->ranks[i], compare);
  });
  for (std::size_t i = 0; i < made->ranks.size(); ++i) {
    rank_here& rank = made->here[i];
    const std::size_t first = made->place_of.at(made->ranks[i].pid);
    if (first != i) rank.identity = named_twice(made->ranks[i], made->ranks[first]);
    rank.hold = {made->ranks[i].entry, made->ranks[i].pid, rank.identity.state, rank.identity.why};
  }
  return made;
}

/// One poll(2) for all ranks: a pidfd becomes readable when its process ends.
void node_ranks::state::look_for_ends() {
  std::vector<pollfd> pidfds;
  pidfds.reserve(here.size());
  for (const rank_here& rank : here) pidfds.push_back({rank.identity.process.get(), POLLIN, 0});
  if (::poll(pidfds.data(), pidfds.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (pidfds[i].revents == 0) continue;
    here[i].held = false;
    here[i].identity.state = hold_state::gone;
    here[i].identity.why = error{error_code::process_gone, fmt::format("rank {} (process {}) has ended",
                                                                       name_of(ranks[i]), ranks[i].pid.value())};
    here[i].hold.state = here[i].identity.state;
    here[i].hold.why = here[i].identity.why;
  }
}

void node_ranks::state::take_hold() {
  std::vector<attach_target> targets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i].held || here[i].identity.state != hold_state::held) continue;
    if (!is_followed(here[i])) here[i].in_group_stop = false;  // the tracer reports it again
    targets.push_back({ranks[i].pid, here[i].identity.start_time, ranks[i].user});
    places.push_back(i);
  }
  if (targets.empty()) return;
  auto outcomes = grip->take(targets);
  for (std::size_t i = 0; i < places.size(); ++i) note(places[i], std::move(outcomes[i]));
}

void node_ranks::state::note(std::size_t place, result<void> outcome) {
  rank_here& rank = here[place];
  rank.held = outcome.has_value();
  rank.hold.state = hold_state::held;
  rank.hold.why.reset();
  if (outcome) return;
  rank.hold.state = state_of_failure(outcome.error());
  if (rank.hold.state == hold_state::gone) {
    const auto started = start_time_of(ranks[place].pid);
    if (started && *started != rank.identity.start_time) rank.hold.state = hold_state::replaced;
  }
  rank.hold.why = std::move(outcome).error();
}

/// Handles the tracer's events: threads that do not stop, and ranks that were killed.
void node_ranks::state::take_events() {
  while (true) {
    auto event = grip->next_event();
    if (!event) return;
    const auto place = place_of.find(event->process);
    if (place == place_of.end()) continue;
    rank_here& rank = here[place->second];
    if (auto* problem = std::get_if<tracing_problem>(&event->what)) rank.hold.why = std::move(problem->what);
    if (auto* lost = std::get_if<control_lost>(&event->what)) rank.hold.why = std::move(lost->why);
    if (std::holds_alternative<group_stopped>(event->what)) rank.in_group_stop = true;
    if (std::holds_alternative<group_continued>(event->what)) rank.in_group_stop = false;
    if (const auto* end = std::get_if<process_ended>(&event->what)) {
      // SIGKILL can end a rank before the tracer has stopped it at its end.
      const bool was_missed = ends.is_on && !rank.at_end && rank.identity.state == hold_state::held;
      if (was_missed && end->status.signaled) note_end(place->second, process_ending{end->status, {}, 0, {}, {}});
      rank.held = rank.at_end = false;
      rank.hold.state = rank.identity.state = hold_state::gone;
    }
    if (std::holds_alternative<control_lost>(event->what)) rank.not_followed = rank.hold.why;
    if (const auto* ending = std::get_if<process_ending>(&event->what); ending != nullptr && ends.is_on) {
      rank.held = rank.at_end = true;
      note_end(place->second, *ending);
    }
  }
}

node_ranks::state::chosen node_ranks::state::choose(const rank_selection& selection) {
  take_events();
  look_for_ends();
  chosen found;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const rank_process& rank = ranks[i];
    const rank_identity& identity = here[i].identity;
    if (!selection.contains(rank.entry)) continue;
    if (identity.state == hold_state::held) {
      const auto number = rank.rank ? static_cast<std::uint32_t>(rank.rank->value()) : rank.entry.value();
      found.wanted.push_back({rank.entry, {rank.pid, identity.start_time, rank.user}, number, here[i].held});
    } else {
      found.refused.emplace_back(rank,
                                 identity.why.value_or(error{error_code::process_gone, "it is not there any more"}));
    }
  }
  return found;
}

bool node_ranks::state::is_followed(const rank_here& rank) const {
  return ends.is_on && !rank.not_followed;
}

bool node_ranks::state::is_stopped_by_signal(process_id pid) const {
  const auto place = place_of.find(pid);
  if (place == place_of.end()) return false;
  const rank_here& rank = here[place->second];
  // The kernel shows the stop of a traced process as the tracer's.
  if (rank.held || is_followed(rank)) return rank.in_group_stop;
  return grip->is_in_group_stop(pid) || mpiacq::is_stopped_by_signal(pid);
}

void node_ranks::state::let_go_of_others() {
  std::vector<process_id> others;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (!here[i].held && here[i].identity.state == hold_state::held) others.push_back(ranks[i].pid);
  }
  (void)grip->let_go(others);
}

std::vector<process_id> node_ranks::state::held_ones() {
  std::vector<process_id> all;
  for (std::size_t i = 0; i < here.size(); ++i) {
    here[i].asked = here[i].held;
    if (here[i].held) all.push_back(ranks[i].pid);
  }
  return all;
}

void node_ranks::state::for_each_held(which_threads which, const std::function<void(const held_rank&)>& with) {
  const auto answers = grip->registers(held_ones(), which, register_sets::general);
  auto answer = answers.begin();
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (!std::exchange(here[i].asked, false)) continue;
    const auto& threads = *answer++;
    // A rank that was killed since has no registers. The next hold reports it as gone.
    if (!threads) continue;
    if (!here[i].memory) here[i].memory = std::make_unique<process_memory>(ranks[i].pid);
    with({ranks[i], *here[i].memory, *threads});
  }
}

}  // namespace mpiacq
