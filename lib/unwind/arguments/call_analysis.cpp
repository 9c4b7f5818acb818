// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/call_analysis.hpp"

#include <algorithm>
#include <iterator>

namespace mpiacq::unwinding {

namespace {

/// The call instruction in front of a return address.
struct found_call {
  std::uint64_t begin = 0;
  bool is_there = false;
};

found_call call_before(code_outline& code, std::uint64_t return_address) {
  const auto starts = code.starts();
  const auto behind = std::lower_bound(starts.begin(), starts.end(), return_address);
  if (behind == starts.begin()) return {};
  const std::uint64_t begin = *std::prev(behind);
  const cs_insn* instruction = code.at(begin);
  const bool is_call = instruction != nullptr && begin + instruction->size == return_address &&
                       code.set().flow(*instruction).how == instruction_flow::kind::call;
  return {begin, is_call};
}

}  // namespace

std::vector<std::uint16_t> written_registers(csh decoder, const cs_insn& instruction) {
  cs_regs read{};
  cs_regs written{};
  std::uint8_t read_count = 0;
  std::uint8_t written_count = 0;
  if (cs_regs_access(decoder, &instruction, read, &read_count, written, &written_count) != CS_ERR_OK) return {};
  return {written, written + written_count};
}

const instruction_set* arch::instructions_of(std::uint16_t elf_machine) {
  constexpr std::uint16_t x86_64 = 62;
  constexpr std::uint16_t aarch64 = 183;
  if (elf_machine == x86_64) return &x86_64_instructions();
  if (elf_machine == aarch64) return &aarch64_instructions();
  return nullptr;
}

bool has_unknown_jumps(const instruction_set& set, std::span<const std::byte> code, std::uint64_t begin) {
  code_outline outline{set, begin, code};
  return !outline.decode() || !outline.computed_jumps().empty();
}

call_recipe analyse_call(const instruction_set& set, const calling_function& function, constant_memory* constants) {
  code_outline code{set, function.begin, function.code};
  return analyse_call(code, function, constants);
}

call_recipe analyse_call(code_outline& code, const calling_function& function, constant_memory* constants) {
  const instruction_set& set = code.set();
  straight_trace trace;
  const auto refused = [&] { return build_recipe(trace, set.convention, unknown_value); };
  if (!code.decode()) return refused();
  const found_call call = call_before(code, function.return_address);
  if (!call.is_there) return refused();
  bool is_entered = false;
  for (const std::uint64_t entry : function.entered_at) {
    code.add_join(entry);
    is_entered = is_entered || entry != function.begin;
  }
  if (!code.computed_jumps().empty()) {
    if (constants == nullptr || !follow_jump_tables(code, *constants, is_entered)) return refused();
  }
  for (const std::uint64_t start : code.run_before(call.begin, function.return_address)) {
    set.step(trace, code.decoder(), *code.at(start));
  }
  return build_recipe(trace, set.convention, set.call_target(trace, *code.at(call.begin)));
}

}  // namespace mpiacq::unwinding
