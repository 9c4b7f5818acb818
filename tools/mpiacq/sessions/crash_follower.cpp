// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/crash_follower.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

/// A rank of another node that has failed is held at most this long before the other nodes hold their ranks.
constexpr std::chrono::milliseconds between_questions{500};

/// MPICH's starter ends at once when it has killed all ranks.
constexpr std::chrono::milliseconds last_ends_limit{1000};
constexpr std::chrono::milliseconds between_last_looks{20};

}  // namespace

crash_follower::crash_follower(std::shared_ptr<rank_group> ranks, const rank_names& names, const follow_options& how)
    : ranks_(std::move(ranks)), names_(names) {
  const auto nodes = ranks_->nodes();
  has_other_nodes_ = std::any_of(nodes.begin(), nodes.end(), [](const job_node& node) { return !node.local; });
  std::map<std::string, rank_set> reasons;
  for (const rank_hold& outcome : ranks_->follow_ends(how)) {
    if (outcome.state == hold_state::held) {
      followed_.add(outcome.entry);
      has_followed_ = true;
    } else if (outcome.state != hold_state::gone && outcome.why) {
      reasons[outcome.why->message].add(outcome.entry);
    }
  }
  for (const auto& [why, which] : reasons) complain_of(which, why);
  if (has_other_nodes_) ask_at_ = clock::now() + between_questions;
}

crash_follower::~crash_follower() {
  ranks_->unfollow_ends();
}

void crash_follower::complain_of(const rank_set& which, const std::string& why) const {
  complain(fmt::format("a failure of {} {} will not be reported: {}", which.count() == 1 ? "rank" : "ranks",
                       names_.text(which), why));
}

/// The end of a job ends its agents, too. So an agent counts as lost if it is missing in two answers, with
/// `between_questions` in between.
void crash_follower::note_lost(const std::vector<refused_ranks>& refused) {
  rank_set missing;
  for (const refused_ranks& one : refused) {
    if (one.why.code == error_code::process_gone) continue;
    const rank_set ours = one.ranks.both(followed_);
    const rank_set lost = ours.both(missing_);
    missing.add(ours.without(lost));
    if (lost.empty()) continue;
    followed_ = followed_.without(lost);
    complain_of(lost, one.why.message);
  }
  missing_ = std::move(missing);
}

int crash_follower::descriptor() const {
  return ranks_->ends_descriptor();
}

std::optional<group_ends> crash_follower::serve() {
  const bool is_due = clock::now() >= ask_at_;
  if (!is_due && !is_readable_by(clock::now(), descriptor())) return std::nullopt;
  auto seen = ranks_->ends();
  if (has_other_nodes_) ask_at_ = clock::now() + between_questions;
  if (!seen.failed.empty()) return seen;
  followed_ = followed_.without(seen.ended);
  if (is_due) note_lost(seen.refused);
  return std::nullopt;
}

std::optional<group_ends> crash_follower::serve_last() {
  const deadline until = clock::now() + last_ends_limit;
  for (;;) {
    auto seen = ranks_->ends();
    if (!seen.failed.empty()) return seen;
    if (seen.followed.empty() || clock::now() >= until) return std::nullopt;
    (void)stopped_within(between_last_looks, descriptor());
  }
}

}  // namespace mpiacq::tool
