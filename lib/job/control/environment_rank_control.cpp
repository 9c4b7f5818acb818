// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/environment_rank_control.hpp"

#include <utility>

namespace mpiacq {

namespace {

/// The failures other than the end of a process.
result<void> first_failure(std::vector<result<void>> outcomes) {
  for (result<void>& one : outcomes) {
    if (!one && one.error().code != error_code::process_gone) return std::move(one);
  }
  return {};
}

std::vector<process_id> taken_from(std::set<process_id>& ranks) {
  const auto all = std::exchange(ranks, {});
  return {all.begin(), all.end()};
}

}  // namespace

std::vector<result<void>> environment_rank_control::hold(std::span<const process_id> ranks) {
  for (const process_id rank : ranks) {
    if (at_entry_.erase(rank) != 0) held_.insert(rank);
  }
  return attach_to(ranks, control_, [this](process_id rank) -> result<void> {
    held_.insert(rank);
    return {};
  });
}

result<void> environment_rank_control::let_go(leave how) {
  before_main_.clear();
  auto held = first_failure(control_.detach_all(taken_from(held_), how));
  auto others = first_failure(control_.detach_all(taken_from(at_entry_), leave::running));
  return held ? others : held;
}

result<bool> environment_rank_control::lend(process_id rank) {
  before_main_.erase(rank);
  if (at_entry_.erase(rank) == 0 && held_.erase(rank) == 0) return true;
  auto left = control_.detach(rank, leave::running);
  if (!left && left.error().code != error_code::process_gone) return fail(std::move(left).error());
  return true;
}

void environment_rank_control::handle(const process_event& event) {
  if (!is_gone(event)) return;
  held_.erase(event.process);
  at_entry_.erase(event.process);
  before_main_.erase(event.process);
}

}  // namespace mpiacq
