// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Stops ranks for a look and releases them. A process can have only one tracer: a stopper uses either a tracer of its
/// own, or that of the job that follows the ranks already.
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
  /// The next event of a held rank; empty if there is none.
  [[nodiscard]] virtual std::optional<process_event> next_event() = 0;
};

/// Stops ranks with a tracer of its own.
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
