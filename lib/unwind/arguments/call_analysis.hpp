// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arguments/call_recipe.hpp"
#include "arguments/code_outline.hpp"
#include "arguments/instruction_set.hpp"
#include "arguments/jump_tables.hpp"

namespace mpiacq::unwinding {

/// A function that makes a call. Addresses are offsets in its module.
struct calling_function {
  std::uint64_t begin = 0;                    ///< of its code, which an unwind table gives
  std::span<const std::byte> code;            ///< all of it
  std::uint64_t return_address = 0;           ///< of the call
  std::span<const std::uint64_t> entered_at;  ///< where jumps from other code of the module lead
};

/// Whether code jumps to an address that its instructions do not contain, or is not understood.
[[nodiscard]] bool has_unknown_jumps(const instruction_set& set, std::span<const std::byte> code, std::uint64_t begin);

/// How to find the arguments of a call.
///
/// The function's code is decoded forwards from its beginning. The recipe follows the instructions in front of the call
/// that always run together: it goes back to the last call, jump or system call, or to the last instruction that any
/// jump leads to. What was set before that is known only if it is still in a register or in memory at the call.
///
/// A jump through a table leads to each address in the table (`follow_jump_tables`), which is read from `constants`.
///
/// All arguments are unknown if the return address does not follow a call instruction, if the code contains bytes that
/// are no instruction, or if the function jumps to a computed address that does not come from such a table.
///
/// These properties of compiled code are taken for granted: a function's code contains no data; control enters a
/// function only at its beginning, behind a call, where a jump leads, or, for a C++ exception, behind an instruction
/// that does not continue.
[[nodiscard]] call_recipe analyse_call(const instruction_set& set, const calling_function& function,
                                       constant_memory* constants = nullptr);
/// The same, with an outline of the function's code that has not been decoded yet.
[[nodiscard]] call_recipe analyse_call(code_outline& code, const calling_function& function,
                                       constant_memory* constants);

}  // namespace mpiacq::unwinding
