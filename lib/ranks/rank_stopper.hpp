// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Who stops ranks for a look into them, and lets them go again: a tracer of one's own, or the job that follows them
/// already, since a process has one tracer.
class rank_stopper {
 public:
  virtual ~rank_stopper() = default;
  /// As `tracer::attach_all`.
  [[nodiscard]] virtual std::vector<result<void>> take(std::span<const attach_target> ranks) = 0;
  /// As `tracer::detach_all`.
  virtual std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how = leave::running) = 0;
  /// As `tracer::registers`.
  [[nodiscard]] virtual std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                                                     which_threads which) const = 0;
  /// As `tracer::keep_held`.
  virtual void keep_held() = 0;
  /// What a rank that is held has done; empty where nobody has done anything.
  [[nodiscard]] virtual std::optional<process_event> next_event() = 0;
};

/// Nobody else holds them.
class tracer_grip final : public rank_stopper {
 public:
  explicit tracer_grip(std::unique_ptr<tracer> control) : control_(std::move(control)) {}
  std::vector<result<void>> take(std::span<const attach_target> ranks) override { return control_->attach_all(ranks); }
  std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how) override {
    return control_->detach_all(ranks, how);
  }
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                                             which_threads which) const override {
    return control_->registers(ranks, which);
  }
  void keep_held() override { (void)control_->keep_held(); }
  std::optional<process_event> next_event() override {
    auto event = control_->wait(clock::now());
    return event ? std::move(*event) : std::nullopt;
  }

 private:
  std::unique_ptr<tracer> control_;
};

}  // namespace mpiacq
