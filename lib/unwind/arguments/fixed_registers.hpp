// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "arguments/code_outline.hpp"

namespace mpiacq::unwinding {

/// For each register, by DWARF number: the one address in the module that a function uses it for. Compilers set such a
/// register in front of a loop.
using fixed_registers = std::array<std::optional<std::uint64_t>, thread_registers::most>;

/// The registers to which a function gives the same address wherever it sets them, except where it leaves afterwards
/// without another jump or a call in between (where it restores its caller's values). Elsewhere, such a register has
/// this address, or what it had when the function was entered, or what a called function left in it.
///
/// Only for functions that nothing enters behind their beginning, except their own jumps.
[[nodiscard]] fixed_registers registers_with_one_address(code_outline& code);

}  // namespace mpiacq::unwinding
