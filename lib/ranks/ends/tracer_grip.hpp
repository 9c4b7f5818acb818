// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mpiacq/process/tracer.hpp"
#include "rank_stopper.hpp"

namespace mpiacq {

/// Stops ranks with a tracer of its own. It can follow ranks to their ends: such a rank stays traced while it runs, and
/// is held when it is about to end, until `let_go`.
class tracer_grip final : public rank_stopper {
 public:
  /// `stop_limit`: how long a followed rank may take to stop.
  explicit tracer_grip(std::unique_ptr<tracer> control,
                       std::chrono::milliseconds stop_limit = tracer_options{}.stop_limit)
      : control_(std::move(control)), stop_limit_(stop_limit) {}

  std::vector<result<void>> take(std::span<const attach_target> ranks) override;
  /// A rank at its end ends, unless its end has not been told yet by `next_event`.
  std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how) override;
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                                             which_threads which,
                                                                             register_sets sets) const override;
  void keep_held() override { (void)control_->keep_held(); }
  [[nodiscard]] std::optional<process_event> next_event() override;

  [[nodiscard]] std::vector<result<void>> follow(std::span<const attach_target> ranks) override;
  void unfollow() override;
  [[nodiscard]] int event_descriptor() const override { return control_->event_descriptor(); }

 private:
  enum class condition : std::uint8_t { running, stopped, ending };
  struct followed_rank {
    condition now = condition::running;
    bool end_told = false;  ///< ending: `next_event` has returned process_ending
    attach_target target;
  };

  void stop_followed(std::span<const attach_target> ranks);
  [[nodiscard]] result<void> outcome_of(const attach_target& rank) const;
  void handle(process_event event);
  void settle(process_id pid);
  /// Handles the events that have come.
  void take_events();

  std::unique_ptr<tracer> control_;
  std::chrono::milliseconds stop_limit_;
  std::map<process_id, followed_rank> followed_;
  std::set<process_id> wanted_;       ///< followed ranks that are to stop, or stay stopped
  std::deque<process_event> events_;  ///< for `next_event`
};

}  // namespace mpiacq
