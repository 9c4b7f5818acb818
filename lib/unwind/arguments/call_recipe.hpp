// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arguments/value_graph.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/registers.hpp"

/// The arguments of a call, in two steps. The caller's code, or the description of the call in debug information, gives
/// a recipe, once for each place in a module. The recipe gives the arguments of each process that stands in this call,
/// from registers and memory.
namespace mpiacq::unwinding {

/// How to find what one call passes.
struct call_recipe {
  /// The largest numbers of values, stores and arguments of a recipe, so that a rank costs little.
  static constexpr std::size_t most_values = 256;
  static constexpr std::size_t most_stores = 64;
  static constexpr std::size_t most_stack_arguments = 16;
  /// The bytes of one argument on the stack.
  static constexpr std::uint64_t stack_slot = 8;

  /// Memory that the code changed before the call. A load sees the stores before it; a later store to the same place
  /// makes the loaded value unknown, because memory is read when the thread is stopped.
  struct store {
    value_id address = unknown_value;  ///< unknown: the store may have changed any memory
    std::uint32_t size = 0;            ///< bytes
  };
  /// One argument.
  struct argument {
    value_id value = unknown_value;
    std::uint8_t bits = 64;  ///< the bits that were set, from the lowest
  };

  std::vector<value_node> values{value_node{}};  ///< `values[0]` is the unknown value
  std::vector<store> stores;
  value_id target = unknown_value;  ///< the address that was called
  std::vector<argument> in_registers;
  std::vector<argument> on_stack;
};

/// One value of a recipe in one thread.
struct recipe_value {
  std::uint64_t number = 0;
  bool from_memory = false;  ///< read from memory of the stopped thread, directly or in part
  std::uint8_t bits = 64;    ///< the low bits of `number` that are known
};

/// The registers with which a function was entered, as far as they are known. By DWARF number.
using entry_registers = std::array<std::optional<recipe_value>, thread_registers::most>;

/// The thread in which a recipe is followed.
struct calling_thread {
  /// The registers of the caller's frame. Only its stack pointer and the registers that a called function must keep are
  /// used.
  const thread_registers& registers;
  std::uint64_t known = 0;      ///< bit by number: the registers that have a value
  target_address module_begin;  ///< of the caller's module
  memory_reader& memory;
  std::optional<std::uint64_t> frame_address = std::nullopt;  ///< the stack pointer of the caller's caller
  const entry_registers* caller_entered_with = nullptr;       ///< null: not known
};

/// What one thread has passed.
struct evaluated_call {
  std::optional<std::uint64_t> target;                 ///< the address that was called; empty: unknown
  std::vector<std::optional<recipe_value>> arguments;  ///< empty: unknown
  std::vector<std::uint8_t> bits;                      ///< for each argument: the number of bits that were set
};

/// The first `count` arguments of a call. Memory is taken to be as it was at the call, except where the recipe knows of
/// a change: a later store of the caller, the called function's own part of the stack, and memory to which another
/// argument points. Errors: those of `memory_reader::read_ranges`.
[[nodiscard]] result<evaluated_call> evaluate(const call_recipe& recipe, const calling_thread& thread,
                                              std::size_t count);

}  // namespace mpiacq::unwinding
