// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/job_watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "busy_ranks.hpp"
#include "look_times.hpp"
#include "rank_parts.hpp"
#include "stillness.hpp"

namespace mpiacq {

namespace {

bool have_all_ended(const group_stacks& seen) {
  return seen.taken.empty() && std::all_of(seen.refused.begin(), seen.refused.end(), [](const refused_ranks& some) {
           return some.why.code == error_code::process_gone || some.why.code == error_code::not_found;
         });
}

}  // namespace

struct job_watch::state {
  state(rank_group& r, const job_watch_options& o)
      : ranks(r), options(o), still(watching::parts_of(r, std::max<std::size_t>(o.ranks_at_once, 1))) {}

  rank_group& ranks;
  job_watch_options options;
  watching::stillness still;
  deadline next_look = clock::now();
  std::optional<deadline> reported;  ///< when the job was last reported to stand still
  std::size_t looks = 0;
  clock::duration longest_stop{};

  /// Looks at each rank once. False: all have ended.
  bool look() {
    bool is_alive = false;
    stack_options how;
    how.leave_stopped = true;
    how.positions = true;
    for (std::size_t part = 0; part < still.parts().size(); ++part) {
      how.ranks = selection_of(still.parts()[part]);
      const group_stacks seen = ranks.stacks(how);
      is_alive = is_alive || !have_all_ended(seen);
      longest_stop = std::max(longest_stop, seen.held_for);
      still.add(part, seen, clock::now());
    }
    ++looks;
    return is_alive;
  }

  /// For how long the job has stood still, and was not reported.
  [[nodiscard]] clock::duration still_for() const {
    const auto since = still.since();
    if (!since) return {};
    return clock::now() - std::max(*since, reported.value_or(*since));
  }

  std::optional<watch_event> step(int stop) {
    if (!look()) return ranks_have_ended{};
    const std::size_t more = watching::looks_before_report(ranks.ranks().size());
    const deadline enough = clock::now() + watching::time_for_those_looks(options.hang);
    for (std::size_t i = 0; i < more && still_for() >= options.hang; ++i) {
      if (i >= watching::looks_in_any_case && clock::now() >= enough) break;
      if (is_stopped_within(watching::between_those_looks, stop)) return std::nullopt;
      if (!look()) return ranks_have_ended{};
    }
    const clock::duration quiet = still_for();
    next_look = clock::now() + watching::time_to_next_look(options.hang, quiet, options.rarest);
    if (quiet < options.hang) return std::nullopt;
    reported = clock::now();
    return still.described(clock::now());
  }
};

job_watch::job_watch(rank_group& ranks, const job_watch_options& options)
    : state_(std::make_unique<state>(ranks, options)) {}
job_watch::~job_watch() = default;

std::optional<watch_event> job_watch::next(const time_limit& until) {
  while (clock::now() < until.by) {
    const deadline look_by = std::min(state_->next_look, until.by);
    const auto wait = std::max(look_by - clock::now(), clock::duration::zero());
    if (is_stopped_within(std::chrono::ceil<std::chrono::milliseconds>(wait), until.stop)) return std::nullopt;
    if (clock::now() < state_->next_look) break;
    if (auto event = state_->step(until.stop)) return event;
  }
  return std::nullopt;
}

std::optional<watch_event> job_watch::look(int stop) {
  return state_->step(stop);
}

deadline job_watch::look_at() const {
  return state_->next_look;
}

std::size_t job_watch::looks() const {
  return state_->looks;
}

clock::duration job_watch::longest_stop() const {
  return state_->longest_stop;
}

}  // namespace mpiacq
