// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/spawn_watch.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "node_ranks_state.hpp"

namespace mpiacq {

namespace {

struct followed {
  wanted_rank rank;
  std::string function;          ///< the function at which new processes are announced
  std::vector<process_id> told;  ///< the processes of this rank that have been reported
};

/// Inserts the spawn breakpoint into a held rank.
result<void> plant(tracer& control, const followed& one) {
  const process_id pid = one.rank.process.process;
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = TRY(process_symbols::open(pid, cache));
  const auto function = symbols->find_symbol(one.function);
  if (!function) return fail(error(function.error()));
  if (!*function) {
    return fail(
        error_code::not_found,
        fmt::format("the function {}, where its queue library announces new processes, is not there", one.function));
  }
  TRY(control.insert_breakpoint(pid, (*function)->address()));
  return {};
}

}  // namespace

struct spawn_watch::state {
  std::shared_ptr<node_ranks> node;  ///< shared with the group that made this
  std::unique_ptr<tracer> control;   ///< null if no tracer could be made, which was then reported
  rank_queue_options how;
  std::map<process_id, followed> ranks;
  std::deque<rank_spawn> found;

  [[nodiscard]] node_ranks::state& inside() const { return *node->state_; }
  void begin(std::vector<followed> wanted);
  /// Asks the queue library of a held rank for new processes, and records those that were not reported yet.
  void ask(followed& one);
  void handle(const process_event& event);
};

/// Attaches to all ranks together, asks each for new processes, and resumes it.
void spawn_watch::state::begin(std::vector<followed> wanted) {
  std::vector<attach_target> targets;
  for (const followed& one : wanted) targets.push_back(one.rank.process);
  const auto held = control->attach_all(targets);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!held[i]) continue;
    followed& one = wanted[i];
    const process_id pid = one.rank.process.process;
    one.rank.held = true;
    if (auto planted = plant(*control, one); !planted) {
      found.push_back({one.rank.entry, {}, {std::move(planted).error()}});
      (void)control->detach(pid);
      continue;
    }
    // The rank can have spawned processes since the last look.
    ask(one);
    if (control->resume(pid)) ranks.emplace(pid, std::move(one));
  }
}

void spawn_watch::state::ask(followed& one) {
  group_queues seen = inside().queues->take({&one.rank, 1}, how);
  auto& report = seen.ranks.front().report;
  rank_spawn made{one.rank.entry, {}, {}};
  if (!report) {
    made.problems.push_back(std::move(report).error());
  } else {
    for (new_process& process : report->new_processes) {
      if (std::find(one.told.begin(), one.told.end(), process.pid) != one.told.end()) continue;
      one.told.push_back(process.pid);
      made.processes.push_back(std::move(process));
    }
  }
  if (!made.processes.empty() || !made.problems.empty()) found.push_back(std::move(made));
}

void spawn_watch::state::handle(const process_event& event) {
  const auto at = ranks.find(event.process);
  if (at == ranks.end()) return;
  if (std::holds_alternative<process_ended>(event.what)) {
    ranks.erase(at);
  } else if (std::holds_alternative<entry_reached>(event.what)) {
    // An exec: neither the breakpoint function nor the known data exists in the new program.
    (void)control->detach(event.process);
    ranks.erase(at);
  } else if (std::holds_alternative<breakpoint_hit>(event.what)) {
    ask(at->second);
    (void)control->resume(event.process);
  } else if (std::holds_alternative<interrupted>(event.what)) {
    (void)control->resume(event.process);
  }
}

spawn_watch::spawn_watch(std::unique_ptr<state> s) : state_(std::move(s)) {}

spawn_watch::~spawn_watch() {
  if (!state_->control) return;
  std::vector<process_id> all;
  for (const auto& [pid, one] : state_->ranks) all.push_back(pid);
  (void)state_->control->detach_all(all);
}

std::unique_ptr<spawn_watch> spawn_watch::create(std::shared_ptr<node_ranks> ranks, const group_queues& seen,
                                                 rank_queue_options how) {
  (void)ranks->release();
  auto s = std::make_unique<state>();
  s->node = std::move(ranks);
  s->how = std::move(how);
  s->how.stacks = false;
  s->how.progress = nullptr;
  node_ranks::state& inside = s->inside();
  if (!inside.queues) return nullptr;  // no queues have been read yet
  std::vector<followed> wanted;
  for (wanted_rank& rank : inside.choose(s->how.ranks).wanted) {
    const auto said =
        std::find_if(seen.ranks.begin(), seen.ranks.end(), [&](const auto& one) { return one.entry == rank.entry; });
    if (said == seen.ranks.end() || !said->report || said->report->spawn_breakpoint.empty()) continue;
    followed one{rank, said->report->spawn_breakpoint, {}};
    for (const new_process& process : said->report->new_processes) one.told.push_back(process.pid);
    wanted.push_back(std::move(one));
  }
  if (wanted.empty()) return nullptr;
  // The ranks run between the spawns. A `rank_stopper` cannot do that, so that this needs a tracer of its own.
  if (auto control = tracer::create()) {
    s->control = std::move(*control);
    s->begin(std::move(wanted));
  } else {
    s->found.push_back({wanted.front().rank.entry, {}, {std::move(control).error()}});
  }
  if (s->ranks.empty() && s->found.empty()) return nullptr;
  return std::unique_ptr<spawn_watch>(new spawn_watch(std::move(s)));
}

std::size_t spawn_watch::watched() const {
  return state_->ranks.size();
}

std::optional<rank_spawn> spawn_watch::next(deadline until) {
  while (state_->found.empty()) {
    if (!state_->control) return std::nullopt;
    const auto event = state_->control->wait(until);
    if (!event || !*event) return std::nullopt;
    state_->handle(**event);
  }
  rank_spawn first = std::move(state_->found.front());
  state_->found.pop_front();
  return first;
}

int spawn_watch::event_descriptor() const {
  return state_->control ? state_->control->event_descriptor() : -1;
}

}  // namespace mpiacq
