// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "walk/rule_stepper.hpp"

#include <bit>

namespace mpiacq::unwinding {

void rule_stepper::begin(const thread_registers& registers, bool by_call) {
  thread_ = registers.thread;
  count_ = registers.count;
  places_ = {registers.by_dwarf_number, 0};
  pc_ = registers.pc;
  instruction_ = by_call ? pc_ - 1 : pc_;
  sp_ = registers.sp;
}

std::optional<std::uint64_t> rule_stepper::read(std::uint64_t address) {
  const target_address at{address & machine_.mask()};
  auto word = view_.table_word(at);
  if (!word) word = view_.word(at);
  if (!word) {
    could_not_read_ = true;
    unreadable_at_ = at;
  }
  return word;
}

std::optional<std::uint64_t> rule_stepper::value(std::size_t number) {
  if (number == machine_.sp_number) return sp_.value();
  if (number == machine_.pc_number) return pc_.value();
  return places_.is_saved(number) ? read(places_.where[number]) : places_.where[number];
}

step_result rule_stepper::step(const frame_rule& rule) {
  could_not_read_ = false;
  const auto base = value(rule.cfa_register);
  if (!base) return failure();
  const std::uint64_t cfa = *base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  for (std::uint64_t left = rule.saved; left != 0; left &= left - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(left));
    places_.where[number] = cfa + static_cast<std::uint64_t>(std::int64_t{rule.offsets[number]});
  }
  places_.saved |= rule.saved;
  return finish(cfa, rule.outermost);
}

step_result rule_stepper::step(const frame_row& row) {
  could_not_read_ = false;
  const auto cfa = cfa_of(row.cfa);
  if (!cfa) return failure();
  // All rules of a row refer to the registers of the callee frame.
  register_places caller = places_;
  for (std::size_t i = 0; i < machine_.register_count; ++i) {
    if (!follow(row.registers[i], i, *cfa, caller)) return failure();
  }
  const register_rule::kind how_sp = row.registers[machine_.sp_number].how;
  const register_rule::kind how_pc = row.registers[machine_.pc_number].how;
  if (how_pc == register_rule::kind::same) return step_result::refused;
  std::optional<std::uint64_t> sp = cfa;
  if (how_sp != register_rule::kind::same && how_sp != register_rule::kind::undefined) {
    const std::uint64_t where = caller.where[machine_.sp_number];
    sp = caller.is_saved(machine_.sp_number) ? read(where) : where;
    if (!sp) return failure();
  }
  places_ = caller;
  return finish(*sp, how_pc == register_rule::kind::undefined);
}

std::optional<std::uint64_t> rule_stepper::cfa_of(const register_rule& rule) {
  if (rule.how == register_rule::kind::value_expression) {
    return evaluate_expression(machine_, rule.expression, std::nullopt, *this);
  }
  if (rule.how != register_rule::kind::in_register) return std::nullopt;
  const auto base = value(rule.number);
  return base ? std::optional(*base + rule.offset) : std::nullopt;
}

bool rule_stepper::follow(const register_rule& rule, std::size_t number, std::uint64_t cfa, register_places& into) {
  using how = register_rule::kind;
  switch (rule.how) {
    case how::same:
      return true;
    case how::undefined:
      into.put(number, 0);
      return true;
    case how::saved:
      into.put_saved(number, cfa + rule.offset);
      return true;
    case how::in_register: {
      const auto held = value(rule.number);
      if (held) into.put(number, *held + rule.offset);
      return held.has_value();
    }
    case how::expression:
    case how::value_expression:
      break;
  }
  const auto answer = evaluate_expression(machine_, rule.expression, cfa, *this);
  if (!answer) return false;
  rule.how == how::expression ? into.put_saved(number, *answer) : into.put(number, *answer);
  return true;
}

/// Steps to the caller, whose registers are known.
step_result rule_stepper::finish(std::uint64_t sp, bool outermost) {
  const target_address below = sp_;
  sp_ = target_address{sp & machine_.mask()};
  if (outermost) {
    pc_ = {};
    return step_result::outermost;
  }
  const std::uint64_t where = places_.where[machine_.pc_number];
  const auto caller = places_.is_saved(machine_.pc_number) ? read(where) : where;
  if (!caller) return failure();
  // A caller with the same pc and CFA would make the walk endless.
  if (*caller == instruction_.value() && sp_ == below) return step_result::refused;
  pc_ = instruction_ = target_address{*caller};
  return step_result::stepped;
}

thread_registers rule_stepper::registers() {
  thread_registers all;
  all.thread = thread_;
  all.count = count_;
  all.pc = pc_;
  all.sp = sp_;
  for (std::size_t i = 0; i < machine_.register_count; ++i) all.by_dwarf_number[i] = value(i).value_or(0);
  return all;
}

}  // namespace mpiacq::unwinding
