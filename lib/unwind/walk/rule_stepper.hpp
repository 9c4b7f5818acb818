// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rules/frame_expression.hpp"
#include "rules/frame_row.hpp"
#include "rules/frame_rule.hpp"
#include "walk/frame_stepper.hpp"

namespace mpiacq::unwinding {

/// Goes from one frame to its caller by known rules, with the results of libunwind. A saved register is read only when
/// a rule needs its value.
class rule_stepper final : private expression_view {
 public:
  /// `view` must outlive this object. Its words have the width of `machine`.
  rule_stepper(const architecture& machine, stepper_view& view) : machine_(machine), view_(view) {}

  /// `by_call`: the pc of the frame is a return address.
  void begin(const thread_registers& registers, bool by_call);
  /// Steps by plain rules.
  [[nodiscard]] step_result step(const frame_rule& rule);
  /// Steps by rules of every kind; also out of a frame that a signal has pushed.
  [[nodiscard]] step_result step(const frame_row& row);

  [[nodiscard]] target_address pc() const { return pc_; }
  [[nodiscard]] target_address sp() const { return sp_; }
  /// The address of the memory that could not be read, after `unreadable`.
  [[nodiscard]] target_address unreadable_at() const { return unreadable_at_; }
  /// All registers of this frame; a register that was saved in unreadable memory is 0.
  [[nodiscard]] thread_registers registers();
  /// Whether the value of this register in this frame can be had.
  [[nodiscard]] bool knows(std::size_t number) { return value(number).has_value(); }

 private:
  /// The value of each register or, if its bit in `saved` is set, the address of its value in memory.
  struct register_places {
    std::array<std::uint64_t, thread_registers::most> where{};
    std::uint64_t saved = 0;

    void put(std::size_t number, std::uint64_t value) {
      where[number] = value;
      saved &= ~(std::uint64_t{1} << number);
    }
    void put_saved(std::size_t number, std::uint64_t address) {
      where[number] = address;
      saved |= std::uint64_t{1} << number;
    }
    [[nodiscard]] bool is_saved(std::size_t number) const { return (saved >> number & 1) != 0; }
  };

  [[nodiscard]] std::optional<std::uint64_t> value(std::size_t number) override;
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address) override;
  [[nodiscard]] std::optional<std::uint64_t> cfa_of(const register_rule& rule);
  [[nodiscard]] bool follow(const register_rule& rule, std::size_t number, std::uint64_t cfa, register_places& into);
  [[nodiscard]] step_result finish(std::uint64_t sp, bool outermost);
  [[nodiscard]] step_result failure() const { return could_not_read_ ? step_result::unreadable : step_result::refused; }

  const architecture& machine_;
  stepper_view& view_;
  thread_id thread_;
  std::uint8_t count_ = 0;
  register_places places_;
  target_address pc_;
  target_address instruction_;  ///< the pc as libunwind counts it: the first pc of the walk, or the call itself
  target_address sp_;
  bool could_not_read_ = false;  ///< in this step
  target_address unreadable_at_;
};

}  // namespace mpiacq::unwinding
