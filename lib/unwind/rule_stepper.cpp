// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rule_stepper.hpp"

#include <bit>

#include "arch.hpp"

namespace mpiacq::unwinding {

void rule_stepper::begin(const thread_registers& registers, bool by_call) {
  thread_ = registers.thread;
  count_ = registers.count;
  where_ = registers.by_dwarf_number;
  saved_ = 0;
  pc_ = registers.pc;
  instruction_ = by_call ? pc_ - 1 : pc_;
  sp_ = registers.sp;
}

std::optional<std::uint64_t> rule_stepper::read(std::uint64_t address) const {
  if (const auto word = view_.table_word(target_address{address})) return word;
  return view_.word(target_address{address});
}

std::optional<std::uint64_t> rule_stepper::value(std::size_t number) const {
  if (number == arch::sp_number()) return sp_.value();
  if (number == arch::pc_number()) return pc_.value();
  return is_saved(number) ? read(where_[number]) : where_[number];
}

step_result rule_stepper::cannot_read(std::uint64_t address) {
  unreadable_at_ = target_address{address};
  return step_result::unreadable;
}

step_result rule_stepper::step(const frame_rule& rule) {
  const auto base = value(rule.cfa_register);
  if (!base) return cannot_read(where_[rule.cfa_register]);
  // Addresses are counted modulo 2^64.
  const std::uint64_t cfa = *base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  for (std::uint64_t left = rule.saved; left != 0; left &= left - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(left));
    where_[number] = cfa + static_cast<std::uint64_t>(std::int64_t{rule.offsets[number]});
  }
  saved_ |= rule.saved;
  const target_address below = sp_;
  sp_ = target_address{cfa};
  if (rule.outermost) {
    pc_ = {};
    return step_result::outermost;
  }
  const auto caller = read(where_[arch::pc_number()]);
  if (!caller) return cannot_read(where_[arch::pc_number()]);
  // It would go on for ever.
  if (*caller == instruction_.value() && sp_ == below) return step_result::refused;
  pc_ = instruction_ = target_address{*caller};
  return step_result::stepped;
}

thread_registers rule_stepper::registers() const {
  thread_registers all;
  all.thread = thread_;
  all.count = count_;
  all.pc = pc_;
  all.sp = sp_;
  for (std::size_t i = 0; i < arch::register_count(); ++i) all.by_dwarf_number[i] = value(i).value_or(0);
  return all;
}

}  // namespace mpiacq::unwinding
