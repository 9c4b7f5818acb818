// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/daemon_watch.hpp"

#include <algorithm>
#include <utility>

#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

constexpr std::chrono::milliseconds look_interval{20};

class proc_children final : public child_source {
 public:
  [[nodiscard]] std::vector<process_id> children_of(process_id parent) const override {
    return mpiacq::children_of(parent);
  }
  [[nodiscard]] std::uint64_t faults_of_ended_children(process_id parent) const override {
    return mpiacq::faults_of_ended_children(parent);
  }
};

}  // namespace

const child_source& children_in_proc() {
  static const proc_children source;
  return source;
}

void daemon_watch::expect_from(process_id starter, mpir::daemon_launch how) {
  if (how != mpir::daemon_launch::by_fifo && how != mpir::daemon_launch::by_polling) return;
  starter_ = starter;
  const auto children = children_.children_of(starter);
  children_before_ = {children.begin(), children.end()};
  faults_before_ = children_.faults_of_ended_children(starter);
  timers_.set(job_timer::daemons, look_interval);
}

/// Where a child of before has gone, the faults of ended children may be its, and show no new child.
void daemon_watch::look() {
  const bool one_has_ended = children_.faults_of_ended_children(starter_) != faults_before_;
  const auto children = children_.children_of(starter_);
  const auto known =
      std::count_if(children.begin(), children.end(), [&](process_id c) { return children_before_.contains(c); });
  const bool is_one_new = known < static_cast<std::ptrdiff_t>(children.size());
  const bool are_all_known_left = known == static_cast<std::ptrdiff_t>(children_before_.size());
  if (is_one_new || (one_has_ended && are_all_known_left)) return report();
  timers_.set(job_timer::daemons, look_interval);
}

void daemon_watch::report() {
  stop();
  if (!std::exchange(is_reported_, true)) events_.add(daemons_launched{});
}

}  // namespace mpiacq
