// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "arguments/call_recipe.hpp"
#include "arguments/instruction_set.hpp"
#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq::unwinding {

/// A function of a process that makes a call. Addresses are those of the process.
struct caller_place {
  const unwind_module& module;
  target_address begin;  ///< of the function's code
  target_address end;
  target_address return_address;
};

/// A piece of code that one record of the unwind tables covers.
struct covered_code {
  target_address begin;
  target_address end;
};
/// The piece of code around an address; empty if no table describes it.
using find_code = std::function<std::optional<covered_code>(target_address)>;

/// The recipe for a call, from the code in memory: the function's own code, and all jumps into it from elsewhere in its
/// module. Null: the code is too large or cannot be read, or another part of the function, or other code that jumps
/// into it, also jumps to computed addresses, which may lie in the function. Errors: those of
/// `memory_reader::read_ranges`.
[[nodiscard]] result<std::shared_ptr<const call_recipe>> recipe_for(const instruction_set& set, memory_reader& memory,
                                                                    const caller_place& place,
                                                                    const find_code& code_around);

/// Recipes of the call instruction alone, of which only the called address may be known. Instructions of several sizes
/// may end at the return address: there is a recipe for each that is a call. Errors: those of
/// `memory_reader::read_ranges`.
[[nodiscard]] result<std::vector<call_recipe>> call_instructions_before(const instruction_set& set,
                                                                        memory_reader& memory,
                                                                        const unwind_module& module,
                                                                        target_address return_address);

/// Whether a call of `address` enters the function that begins at `function`, at once or through stubs that only jump.
/// Errors: those of `memory_reader::read_ranges`.
[[nodiscard]] result<bool> leads_to(const instruction_set& set, memory_reader& memory, target_address address,
                                    target_address function);

}  // namespace mpiacq::unwinding
