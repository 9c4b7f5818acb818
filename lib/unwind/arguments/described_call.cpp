// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/described_call.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "rules/call_frame_reader.hpp"
#include "rules/expression_codes.hpp"

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t deepest_stack_of_values = 32;
constexpr std::size_t longest_expression = 128;
constexpr std::size_t word_bytes = 8;  ///< all code whose calls are analysed has 64 bits

/// The facts that all expressions of one call share.
struct expression_context {
  const call_convention& convention;
  std::uint64_t module_begin = 0;  ///< a link-time address
  bool by_gcc = false;
  value_id frame_base = unknown_value;
};

/// The value of a register at the call, if the called function keeps it, and if the description can be right. LLVM 14
/// describes arguments by registers that it changes before the call, and nothing in the expression shows it.
value_id kept_register(std::uint64_t number, const expression_context& context, value_graph& graph) {
  const auto kept = context.convention.kept;
  const bool is_kept =
      number == context.convention.sp_number || std::find(kept.begin(), kept.end(), number) != kept.end();
  return is_kept && context.by_gcc ? graph.add({.kind = value_kind::at_call, .number = number}) : unknown_value;
}

/// Turns an expression into a value of a graph, by executing it with values instead of numbers.
class expression_reader {
 public:
  expression_reader(std::span<const std::byte> bytes, const expression_context& context, value_graph& graph)
      : reader_(bytes), context_(context), graph_(graph) {}

  /// Unknown if the expression has no value.
  [[nodiscard]] value_id read() {
    for (std::size_t i = 0; good_ && !reader_.at_end(); ++i) {
      if (i == longest_expression) return unknown_value;
      execute(reader_.byte());
    }
    const value_id answer = pop();
    return good_ && reader_.good() && places_.empty() ? answer : unknown_value;
  }

 private:
  void execute(std::uint8_t code) {
    if (code >= op_lit0 && code <= op_lit31) return push(graph_.constant(code - op_lit0));
    if (code >= op_breg0 && code <= op_breg31) return push_register(code - op_breg0);
    if (code >= op_const1u && code <= op_const8s) return push_constant(code);
    switch (code) {
      case op_nop:
      case op_stack_value:
        return;
      case op_addr:
        return push(graph_.code_address(reader_.fixed(word_bytes) - context_.module_begin));
      case op_constu:
        return push(graph_.constant(reader_.uleb()));
      case op_consts:
        return push(graph_.constant(static_cast<std::uint64_t>(reader_.sleb())));
      case op_bregx:
        return push_register(reader_.uleb());
      case op_fbreg:
        return push(graph_.offset(context_.frame_base, static_cast<std::uint64_t>(reader_.sleb())));
      case op_call_frame_cfa:
        return push(graph_.add({.kind = value_kind::frame_address}));
      case op_entry_value:
      case op_gnu_entry_value:
        return push(entry_value(reader_.take(reader_.uleb())));
      case op_plus_uconst:
        return push(graph_.offset(pop(), reader_.uleb()));
      case op_deref:
        return push_load(word_bytes);
      case op_deref_size:
        return push_load(reader_.byte());
      default:
        return code >= op_dup && code <= op_swap ? rearrange(code) : calculate(code);
    }
  }

  void rearrange(std::uint8_t code) {
    if (code == op_pick) {
      good_ = false;
      return;
    }
    const value_id first = pop();
    if (code == op_drop) return;
    if (code == op_dup) return push(first), push(first);
    const value_id second = pop();
    if (code == op_over) return push(second), push(first), push(second);
    push(first), push(second);
  }

  void calculate(std::uint8_t code) {
    const value_id right = pop();
    if (code == op_neg) return push(graph_.binary(value_kind::difference, graph_.constant(0), right));
    if (code == op_not) return push(graph_.binary(value_kind::bits_that_differ, right, graph_.constant(UINT64_MAX)));
    const value_id left = pop();
    switch (code) {
      case op_and:
        return push(graph_.binary(value_kind::bits_of_both, left, right));
      case op_or:
        return push(graph_.binary(value_kind::bits_of_either, left, right));
      case op_xor:
        return push(graph_.binary(value_kind::bits_that_differ, left, right));
      case op_plus:
        return push(graph_.binary(value_kind::sum, left, right));
      case op_minus:
        return push(graph_.binary(value_kind::difference, left, right));
      case op_mul:
        return push(graph_.binary(value_kind::product, left, right));
      case op_shl:
      case op_shr:
      case op_shra:
        return shift(code, left, right);
      default:
        good_ = false;
    }
  }
  void shift(std::uint8_t code, value_id left, value_id by) {
    const value_node count = graph_[by];
    if (count.kind != value_kind::constant || count.number >= 64) {
      good_ = false;
      return;
    }
    if (code == op_shl) return push(graph_.shifted(value_kind::shifted_left, left, count.number));
    const value_id shifted = graph_.shifted(value_kind::shifted_right, left, count.number);
    if (code == op_shr) return push(shifted);
    push(graph_.sign_extended(shifted, static_cast<unsigned>(64 - count.number)));
  }

  /// DW_OP_const1u, const1s, const2u, ... const8s, in this order.
  void push_constant(std::uint8_t code) {
    const std::size_t size = std::size_t{1} << ((code - op_const1u) / 2);
    const bool is_signed = (code - op_const1u) % 2 != 0;
    push(graph_.constant(is_signed ? static_cast<std::uint64_t>(reader_.signed_fixed(size)) : reader_.fixed(size)));
  }
  void push_register(std::uint64_t number) {
    const auto plus = static_cast<std::uint64_t>(reader_.sleb());
    push(graph_.offset(kept_register(number, context_, graph_), plus));
  }
  void push_load(std::size_t bytes) {
    const bool has_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == word_bytes;
    const value_id address = pop();
    if (!has_size) return push(unknown_value);
    push(graph_.add({.kind = value_kind::load, .bits = static_cast<std::uint8_t>(8 * bytes), .left = address}));
  }
  /// The value that a register had at the beginning of the calling function.
  [[nodiscard]] value_id entry_value(std::span<const std::byte> what) {
    const auto number = register_named(what);
    return number ? graph_.add({.kind = value_kind::at_entry, .number = *number}) : unknown_value;
  }

  /// An unknown value makes the whole expression unknown.
  void push(value_id value) {
    if (value == unknown_value || places_.size() == deepest_stack_of_values) {
      good_ = false;
    } else {
      places_.push_back(value);
    }
  }
  value_id pop() {
    if (places_.empty()) {
      good_ = false;
      return unknown_value;
    }
    const value_id top = places_.back();
    places_.pop_back();
    return top;
  }

 public:
  /// The register that an expression of one operation names.
  [[nodiscard]] static std::optional<std::uint64_t> register_named(std::span<const std::byte> bytes) {
    record_reader reader{bytes};
    const std::uint8_t code = reader.byte();
    std::uint64_t number = code - op_reg0;
    if (code == op_regx) {
      number = reader.uleb();
    } else if (code < op_reg0 || code > op_reg31) {
      return std::nullopt;
    }
    const bool is_whole = reader.good() && reader.at_end() && number < thread_registers::most;
    return is_whole ? std::optional{number} : std::nullopt;
  }

 private:
  record_reader reader_;
  const expression_context& context_;
  value_graph& graph_;
  std::vector<value_id> places_;
  bool good_ = true;
};

/// Where a parameter is when the call is made.
struct argument_place {
  std::optional<std::uint64_t> register_number;
  std::optional<std::uint64_t> on_stack;  ///< bytes above the stack pointer
};

argument_place place_of(std::span<const std::byte> expression, const call_convention& convention) {
  if (const auto number = expression_reader::register_named(expression)) return {number, std::nullopt};
  record_reader reader{expression};
  const std::uint8_t code = reader.byte();
  const std::uint64_t base = code == op_bregx ? reader.uleb() : std::uint64_t{code} - op_breg0;
  const std::int64_t at = reader.sleb();
  const bool is_on_stack = reader.good() && reader.at_end() && base == convention.sp_number && at >= 0;
  return is_on_stack ? argument_place{std::nullopt, static_cast<std::uint64_t>(at)} : argument_place{};
}

/// The frame base of a function is as a rule one register, or DWARF's frame address. The stack pointer is not used: it
/// moves when arguments are pushed.
value_id frame_base_of(std::span<const std::byte> expression, const expression_context& context, value_graph& graph) {
  if (const auto number = expression_reader::register_named(expression)) {
    return *number == context.convention.sp_number ? unknown_value : kept_register(*number, context, graph);
  }
  return expression_reader{expression, context, graph}.read();
}

/// The argument in this place; null if a recipe has no such argument.
call_recipe::argument* argument_at(const argument_place& place, const call_convention& convention,
                                   call_recipe& recipe) {
  if (place.register_number) {
    const auto found = std::find(convention.arguments.begin(), convention.arguments.end(), *place.register_number);
    if (found == convention.arguments.end()) return nullptr;
    return &recipe.in_registers[static_cast<std::size_t>(found - convention.arguments.begin())];
  }
  if (!place.on_stack || *place.on_stack % call_recipe::stack_slot != 0) return nullptr;
  const std::uint64_t index = *place.on_stack / call_recipe::stack_slot;
  return index < recipe.on_stack.size() ? &recipe.on_stack[static_cast<std::size_t>(index)] : nullptr;
}

}  // namespace

call_recipe recipe_of_description(const call_description& described, const call_convention& convention,
                                  std::uint64_t module_begin) {
  call_recipe recipe;
  recipe.in_registers.resize(convention.arguments.size());
  recipe.on_stack.resize(call_recipe::most_stack_arguments);
  value_graph graph;
  expression_context context{convention, module_begin, described.by_gcc};
  context.frame_base = frame_base_of(described.frame_base, context, graph);
  for (const call_description::parameter& one : described.parameters) {
    call_recipe::argument* argument = argument_at(place_of(one.place, convention), convention, recipe);
    if (argument != nullptr) argument->value = expression_reader{one.value, context, graph}.read();
  }
  const auto made = graph.nodes();
  if (made.size() > call_recipe::most_values) {
    for (auto* all : {&recipe.in_registers, &recipe.on_stack})
      std::fill(all->begin(), all->end(), call_recipe::argument{});
    return recipe;
  }
  recipe.values.assign(made.begin(), made.end());
  return recipe;
}

namespace {

/// A register to which a number is added is the frame's own: that one is described rightly by all compilers.
value_id value_of_parameter(const parameter_places::parameter& one, const expression_context& context,
                            value_graph& graph) {
  using place = parameter_places::parameter::place;
  const auto number = static_cast<std::uint64_t>(one.number);
  switch (one.is) {
    case place::constant:
      return graph.constant(number);
    case place::in_register:
      return one.base ? kept_register(*one.base, context, graph) : unknown_value;
    case place::in_memory: {
      const expression_context of_frame{context.convention, context.module_begin, true};
      const value_id base =
          one.base ? kept_register(*one.base, of_frame, graph) : graph.add({.kind = value_kind::frame_address});
      return graph.add({.kind = value_kind::load,
                        .bits = static_cast<std::uint8_t>(8 * one.bytes),
                        .left = graph.offset(base, number)});
    }
    case place::unknown:
      break;
  }
  return unknown_value;
}

}  // namespace

call_recipe recipe_of_parameters(const parameter_places& places, const call_convention& convention) {
  call_recipe recipe;
  recipe.in_registers.resize(convention.arguments.size());
  recipe.on_stack.resize(call_recipe::most_stack_arguments);
  value_graph graph;
  const expression_context context{convention, 0, places.by_gcc};
  for (std::size_t i = 0; i < places.parameters.size(); ++i) {
    const bool is_in_register = i < recipe.in_registers.size();
    const std::size_t on_stack = i - recipe.in_registers.size();
    if (!is_in_register && on_stack >= recipe.on_stack.size()) break;
    call_recipe::argument& argument = is_in_register ? recipe.in_registers[i] : recipe.on_stack[on_stack];
    const std::uint8_t bytes = places.parameters[i].bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != word_bytes) continue;
    argument.value = value_of_parameter(places.parameters[i], context, graph);
    argument.bits = static_cast<std::uint8_t>(8 * bytes);
  }
  const auto made = graph.nodes();  // at most three for each parameter, and fewer parameters than 64
  recipe.values.assign(made.begin(), made.end());
  return recipe;
}

}  // namespace mpiacq::unwinding
