// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "frame_rule.hpp"
#include "frame_stepper.hpp"

namespace mpiacq::unwinding {

/// Goes from one frame to its caller by rules that are known, as libunwind would: a register that was saved is read
/// when something needs it, and not before.
class rule_stepper {
 public:
  /// `view` must outlive this.
  explicit rule_stepper(stepper_view& view) : view_(view) {}

  /// `by_call`: its pc was left by a call.
  void begin(const thread_registers& registers, bool by_call);
  [[nodiscard]] step_result step(const frame_rule& rule);

  [[nodiscard]] target_address pc() const { return pc_; }
  [[nodiscard]] target_address sp() const { return sp_; }
  /// Where memory could not be read, after `unreadable`.
  [[nodiscard]] target_address unreadable_at() const { return unreadable_at_; }
  /// All registers of this frame; one that was saved where nothing can be read is 0.
  [[nodiscard]] thread_registers registers() const;

 private:
  [[nodiscard]] bool is_saved(std::size_t number) const { return (saved_ >> number & 1) != 0; }
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::uint64_t> value(std::size_t number) const;
  [[nodiscard]] step_result cannot_read(std::uint64_t address);

  stepper_view& view_;
  thread_id thread_;
  std::uint8_t count_ = 0;
  /// What each register holds, or, for those whose bit is in `saved_`, where that is in memory.
  std::array<std::uint64_t, thread_registers::most> where_{};
  std::uint64_t saved_ = 0;
  target_address pc_;
  target_address instruction_;  ///< what libunwind takes for the pc: where the walk began, the call itself
  target_address sp_;
  target_address unreadable_at_;
};

}  // namespace mpiacq::unwinding
