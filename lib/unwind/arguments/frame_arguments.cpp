// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/frame_arguments.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "arguments/caller_code.hpp"
#include "arguments/described_call.hpp"
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

/// The frames between a call and the entry values that its description names. Each costs a walk of the stack.
constexpr std::size_t most_calls_back = 8;

/// One call on a stack, with its caller's frame.
struct seen_call {
  frame_registers caller;
  process_code::loaded_module* home = nullptr;  ///< of the caller
  covered_code code;                            ///< of the caller
  target_address entered;                       ///< the function that was entered
  raw_frame callee;                             ///< its frame
  [[nodiscard]] target_address return_address() const { return caller.registers.pc; }
  [[nodiscard]] std::uint64_t offset() const { return return_address() - home->facts.begin; }
};

/// The value that two methods agree on; unknown if they do not.
call_argument agreed(const call_argument& by_code, const call_argument& by_description) {
  if (!by_description.is_known()) return by_code;
  if (!by_code.is_known()) return by_description;
  const auto differ = by_code.value ^ by_description.value;
  call_argument both = by_description;
  both.bits = std::min(by_code.bits, by_description.bits);
  both.from_memory = by_code.from_memory && by_description.from_memory;
  const std::uint64_t mask = both.bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << both.bits) - 1;
  if ((differ & mask) == 0) return both;
  // A description of a number of 32 bits says nothing about the upper half of its register.
  both.bits = 32;
  return (differ & UINT32_MAX) == 0 ? both : call_argument{};
}

/// The argument by its caller, if the called function's own frame does not contradict it; else the one of the frame.
call_argument confirmed(const call_argument& by_caller, const call_argument& in_frame) {
  if (!in_frame.is_known()) return by_caller;
  if (!by_caller.is_known()) return in_frame;
  const unsigned bits = std::min(by_caller.bits, in_frame.bits);
  const std::uint64_t mask = bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  return ((by_caller.value ^ in_frame.value) & mask) == 0 ? by_caller : call_argument{};
}

call_argument in_public_form(const std::optional<recipe_value>& value, std::uint8_t bits, argument_source source) {
  return value ? call_argument{value->number, source, bits, value->from_memory} : call_argument{};
}

class argument_finder {
 public:
  argument_finder(process_view& process, const instruction_set& set, const thread_registers& thread,
                  std::span<const std::byte> top, const call_questions& ask)
      : process_(process), set_(set), thread_(thread), top_(top), describe_(ask.call), places_(ask.places) {}

  [[nodiscard]] result<call_arguments> find(const wanted_call& call) {
    std::string why;
    const auto seen = TRY(look_at(call.frame, why));
    if (!seen) return none(std::move(why));
    auto all = TRY(find(*seen, call, 0));
    const auto own = TRY(find_in_own_frame(*seen, call));
    if (!own) return all;
    all.arguments.resize(call.arguments);
    bool is_any_known = false;
    for (std::size_t i = 0; i < call.arguments; ++i) {
      call_argument& one = all.arguments[i];
      one = confirmed(one, argument_of(*own, i, argument_source::debug_information));
      is_any_known = is_any_known || one.is_known();
    }
    if (is_any_known) all.why.clear();
    if (!all.why.empty()) all.arguments.clear();
    return all;
  }

 private:
  [[nodiscard]] result<call_arguments> find(const seen_call& seen, const wanted_call& call, std::size_t depth) {
    const auto by_code = TRY(find_by_code(seen, call.arguments));
    const auto by_description = TRY(find_by_description(seen, call, by_code, depth));
    if (!by_code.call && !by_description) return none(by_code.why);
    return combined(by_code, by_description, call.arguments);
  }

  /// What the caller's code says.
  struct result_of_code {
    std::optional<evaluated_call> call;  ///< empty: nothing
    bool is_another_call = false;        ///< the code calls another function than the one that was entered
    std::string why;                     ///< if it says nothing
  };

  [[nodiscard]] memory_reader& memory() { return process_.memory().pages(); }

  /// Empty if no call can be seen, with the reason in `why`.
  [[nodiscard]] result<std::optional<seen_call>> look_at(std::size_t frame, std::string& why) {
    seen_call seen;
    const auto stack = TRY(walk_stack(process_, thread_, top_, {.max_frames = frame + 1}, &seen.caller));
    if (seen.caller.known == 0) {
      why = fmt::format("the stack has no caller of frame {}", frame);
      return std::nullopt;
    }
    const raw_frame& callee = stack.frames.back();
    if (callee.signal_frame) {
      why = fmt::format("frame {} was entered by a signal", frame);
      return std::nullopt;
    }
    const auto entered = code_around(process_.enter(callee.is_return_address ? callee.pc - 1 : callee.pc));
    const process_code::place place = process_.enter(seen.return_address() - 1);
    const auto code = code_around(place);
    if (!entered || !code) {
      why = fmt::format("no table describes the call before {:#x}", seen.return_address().value());
      return std::nullopt;
    }
    seen.home = place.home;
    seen.code = *code;
    seen.entered = entered->begin;
    seen.callee = callee;
    return seen;
  }

  [[nodiscard]] calling_thread caller_of(const seen_call& seen) {
    return {seen.caller.registers, seen.caller.known, seen.home->facts.begin, memory(), std::nullopt, nullptr};
  }

  /// Whether a recipe's call has entered the function that is on the stack. After a tail call, the return address
  /// follows the call of another function, with other arguments.
  [[nodiscard]] result<bool> has_entered(const evaluated_call& call, const seen_call& seen) {
    if (!call.target) return false;
    return leads_to(set_, memory(), target_address{*call.target}, seen.entered);
  }

  [[nodiscard]] result<std::shared_ptr<const call_recipe>> recipe_of_code(const seen_call& seen) {
    known_calls& calls = seen.home->table->calls();
    if (auto known = calls.find(seen.offset(), recipe_source::code)) return known;
    const auto around = [&](target_address address) { return code_around(process_.enter(address)); };
    const caller_place place{seen.home->facts, seen.code.begin, seen.code.end, seen.return_address()};
    auto made = TRY(recipe_for(set_, memory(), place, around));
    if (made != nullptr) calls.add(seen.offset(), recipe_source::code, made);
    return made;
  }

  [[nodiscard]] result<result_of_code> find_by_code(const seen_call& seen, std::size_t count) {
    result_of_code answer;
    const auto recipe = TRY(recipe_of_code(seen));
    if (recipe == nullptr) {
      answer.why = fmt::format("the code around {:#x} is too large, cannot be read, or jumps to computed addresses",
                               seen.return_address().value());
      return answer;
    }
    auto found = TRY(evaluate(*recipe, caller_of(seen), count));
    if (TRY(has_entered(found, seen))) {
      answer.call = std::move(found);
      return answer;
    }
    answer.is_another_call = found.target.has_value();
    answer.why = fmt::format("the instruction before {:#x} is not known to call the function at {:#x}",
                             seen.return_address().value(), seen.entered.value());
    return answer;
  }

  /// Whether one of the instructions that may stand in front of the return address calls the function that was entered.
  [[nodiscard]] result<bool> is_called_directly(const seen_call& seen) {
    const auto calls = TRY(call_instructions_before(set_, memory(), seen.home->facts, seen.return_address()));
    for (const call_recipe& one : calls) {
      const auto call = TRY(evaluate(one, caller_of(seen), 0));
      if (TRY(has_entered(call, seen))) return true;
    }
    return false;
  }

  /// The recipe that debug information gives; null if it describes no such call.
  [[nodiscard]] std::shared_ptr<const call_recipe> recipe_of_site(const seen_call& seen) {
    known_calls& calls = seen.home->table->calls();
    if (auto known = calls.find(seen.offset(), recipe_source::description)) return known;
    const unwind_module& module = seen.home->facts;
    const auto described = describe_(seen.return_address()).value_or(call_description{});
    auto made = std::make_shared<const call_recipe>(
        recipe_of_description(described, set_.convention, module.begin.value() - module.bias.value()));
    calls.add(seen.offset(), recipe_source::description, made);
    return made;
  }

  [[nodiscard]] result<std::optional<evaluated_call>> find_by_description(const seen_call& seen,
                                                                          const wanted_call& call,
                                                                          const result_of_code& by_code,
                                                                          std::size_t depth) {
    if (!describe_ || by_code.is_another_call) return std::nullopt;
    const auto recipe = recipe_of_site(seen);
    if (recipe->values.size() <= 1) return std::nullopt;
    if (!by_code.call && !TRY(is_called_directly(seen))) return std::nullopt;
    calling_thread thread = caller_of(seen);
    if (uses(*recipe, value_kind::frame_address)) thread.frame_address = TRY(frame_address_of(call.frame + 1));
    entry_registers entered{};
    if (uses(*recipe, value_kind::at_entry) && depth < most_calls_back) {
      entered = TRY(entered_with(call.frame + 1, depth + 1));
      thread.caller_entered_with = &entered;
    }
    return std::optional{TRY(evaluate(*recipe, thread, call.arguments))};
  }

  [[nodiscard]] static bool uses(const call_recipe& recipe, value_kind kind) {
    return std::any_of(recipe.values.begin(), recipe.values.end(),
                       [kind](const value_node& one) { return one.kind == kind; });
  }

  /// The stack pointer of the frame behind this one.
  [[nodiscard]] result<std::optional<std::uint64_t>> frame_address_of(std::size_t frame) {
    frame_registers behind;
    TRY(walk_stack(process_, thread_, top_, {.max_frames = frame + 1}, &behind));
    if (behind.known == 0) return std::nullopt;
    return behind.registers.sp.value();
  }

  /// The argument registers with which the function of a frame was entered.
  [[nodiscard]] result<entry_registers> entered_with(std::size_t frame, std::size_t depth) {
    entry_registers all{};
    std::string why;
    const auto seen = TRY(look_at(frame, why));
    if (!seen) return all;
    const auto passed = TRY(find(*seen, {frame, set_.convention.arguments.size()}, depth));
    for (std::size_t i = 0; i < passed.arguments.size(); ++i) {
      const call_argument& one = passed.arguments[i];
      if (one.is_known()) all[set_.convention.arguments[i]] = recipe_value{one.value, one.from_memory, one.bits};
    }
    return all;
  }

  /// The recipe for the parameters of the function that stands at `pc`.
  [[nodiscard]] std::shared_ptr<const call_recipe> recipe_of_places(const process_code::loaded_module& home,
                                                                    target_address pc) {
    known_calls& calls = home.table->calls();
    const std::uint64_t offset = pc - home.facts.begin;
    if (auto known = calls.find(offset, recipe_source::called_function)) return known;
    const auto places = places_(pc).value_or(parameter_places{});
    auto made = std::make_shared<const call_recipe>(recipe_of_parameters(places, set_.convention));
    calls.add(offset, recipe_source::called_function, made);
    return made;
  }

  /// The parameters of the called function, where it keeps them itself. Empty: it is not described, or has not called
  /// another function, so that its parameters may be on their way.
  [[nodiscard]] result<std::optional<evaluated_call>> find_in_own_frame(const seen_call& seen,
                                                                        const wanted_call& call) {
    if (!places_ || call.frame == 0 || !seen.callee.is_return_address) return std::nullopt;
    const target_address pc = seen.callee.pc - 1;
    const process_code::place place = process_.enter(pc);
    if (place.home == nullptr) return std::nullopt;
    const auto recipe = recipe_of_places(*place.home, pc);
    if (recipe->values.size() <= 1) return std::nullopt;
    frame_registers own;
    TRY(walk_stack(process_, thread_, top_, {.max_frames = call.frame}, &own));
    const calling_thread thread{
        own.registers, own.known, place.home->facts.begin, memory(), seen.caller.registers.sp.value(), nullptr};
    return std::optional{TRY(evaluate(*recipe, thread, call.arguments))};
  }

  [[nodiscard]] static call_argument argument_of(const evaluated_call& call, std::size_t i, argument_source source) {
    return i < call.arguments.size() ? in_public_form(call.arguments[i], call.bits[i], source) : call_argument{};
  }

  [[nodiscard]] static call_arguments combined(const result_of_code& by_code,
                                               const std::optional<evaluated_call>& by_description, std::size_t count) {
    const auto argument = [](const std::optional<evaluated_call>& call, std::size_t i, argument_source source) {
      return call ? argument_of(*call, i, source) : call_argument{};
    };
    call_arguments all;
    for (std::size_t i = 0; i < count; ++i) {
      all.arguments.push_back(agreed(argument(by_code.call, i, argument_source::instructions),
                                     argument(by_description, i, argument_source::call_site)));
    }
    return all;
  }

  process_view& process_;
  const instruction_set& set_;
  const thread_registers& thread_;
  std::span<const std::byte> top_;
  const find_call_description& describe_;
  const find_parameter_places& places_;
};

}  // namespace

result<call_arguments> arguments_of(process_view& process, std::uint16_t elf_machine, const thread_registers& thread,
                                    std::span<const std::byte> top, const wanted_call& call,
                                    const call_questions& ask) {
  const instruction_set* set = arch::instructions_of(elf_machine);
  if (set == nullptr) return none("the calls of this processor's code are not analysed");
  return argument_finder{process, *set, thread, top, ask}.find(call);
}

}  // namespace unwinding

}  // namespace mpiacq
