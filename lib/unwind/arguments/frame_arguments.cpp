// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/frame_arguments.hpp"

#include <fmt/format.h>

#include "arguments/caller_code.hpp"
#include "errors/try.hpp"

namespace mpiacq {

std::string_view name(argument_source source) {
  switch (source) {
    case argument_source::unknown:
      return "unknown";
    case argument_source::instructions:
      return "instructions";
    case argument_source::call_site:
      return "call-site";
    case argument_source::debug_information:
      return "debug-information";
  }
  return "?";
}

namespace unwinding {

namespace {

call_arguments none(std::string why) {
  return {{}, std::move(why)};
}

/// The code that one record of the tables covers, in this process.
std::optional<covered_code> code_around(const process_code::place& place) {
  if (place.frame == nullptr) return std::nullopt;
  const std::uint64_t moved = place.home->facts.tables_begin - place.frame->tables_begin;
  return covered_code{place.frame->covers.begin + moved, place.frame->covers.end + moved};
}

result<std::shared_ptr<const call_recipe>> known_recipe(const instruction_set& set, process_view& process,
                                                        process_code::loaded_module& home, const covered_code& code,
                                                        target_address return_address) {
  known_calls& calls = home.table->calls();
  const std::uint64_t offset = return_address - home.facts.begin;
  if (auto known = calls.find(offset)) return known;
  const auto around = [&](target_address address) { return code_around(process.enter(address)); };
  auto made =
      TRY(recipe_for(set, process.memory().pages(), {home.facts, code.begin, code.end, return_address}, around));
  if (made != nullptr) calls.add(offset, made);
  return made;
}

call_arguments in_public_form(const evaluated_call& call) {
  call_arguments all;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto& value = call.arguments[i];
    all.arguments.push_back(
        value ? call_argument{value->number, argument_source::instructions, call.bits[i], value->from_memory}
              : call_argument{});
  }
  return all;
}

}  // namespace

result<call_arguments> arguments_of(process_view& process, std::uint16_t elf_machine, const thread_registers& thread,
                                    std::span<const std::byte> top, const wanted_call& call) {
  const instruction_set* set = arch::instructions_of(elf_machine);
  if (set == nullptr) return none("the calls of this processor's code are not analysed");
  frame_registers caller;
  const auto stack = TRY(walk_stack(process, thread, top, {.max_frames = call.frame + 1}, &caller));
  if (caller.known == 0) return none(fmt::format("the stack has no caller of frame {}", call.frame));
  const raw_frame& callee = stack.frames.back();
  if (callee.signal_frame) return none(fmt::format("frame {} was entered by a signal", call.frame));
  memory_reader& memory = process.memory().pages();

  const auto entered = code_around(process.enter(callee.is_return_address ? callee.pc - 1 : callee.pc));
  const target_address return_address = caller.registers.pc;
  const process_code::place place = process.enter(return_address - 1);
  const auto code = code_around(place);
  if (!entered || !code) return none(fmt::format("no table describes the call before {:#x}", return_address.value()));
  process_code::loaded_module& home = *place.home;
  const auto recipe = TRY(known_recipe(*set, process, home, *code, return_address));
  if (recipe == nullptr) {
    return none(fmt::format("the code around {:#x} is too large, cannot be read, or jumps to computed addresses",
                            return_address.value()));
  }
  const auto found = TRY(evaluate(*recipe, {caller.registers, caller.known, home.facts.begin, memory}, call.arguments));
  // After a tail call, the return address follows the call of another function, with other arguments.
  const bool is_this_call = found.target && TRY(leads_to(*set, memory, target_address{*found.target}, entered->begin));
  if (!is_this_call) {
    return none(fmt::format("the instruction before {:#x} is not known to call the function at {:#x}",
                            return_address.value(), entered->begin.value()));
  }
  return in_public_form(found);
}

}  // namespace unwinding

}  // namespace mpiacq
