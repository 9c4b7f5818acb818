// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "arguments/call_recipe.hpp"
#include "arguments/straight_trace.hpp"

namespace mpiacq::unwinding {

/// How calls pass arguments. Registers have their DWARF numbers.
struct call_convention {
  std::span<const std::uint8_t> arguments;  ///< the registers of integer arguments, in order
  std::span<const std::uint8_t> kept;       ///< the registers that a called function must keep, with the stack pointer
  std::uint8_t sp_number = 0;
};

/// The recipe for a call at the end of `trace`, which calls the address `target`.
///
/// A value is found in the first of these places that has it: a constant; a register that the called function keeps and
/// that holds the value at the call; memory from which it was loaded; memory to which it was stored; the result of an
/// operation on such values.
[[nodiscard]] call_recipe build_recipe(straight_trace& trace, const call_convention& convention, value_id target);

}  // namespace mpiacq::unwinding
