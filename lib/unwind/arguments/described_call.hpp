// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "arguments/call_recipe.hpp"
#include "arguments/recipe_builder.hpp"
#include "mpiacq/process/call_description.hpp"

namespace mpiacq::unwinding {

/// The recipe for a call that debug information describes. `module_begin` is the link-time address of the beginning of
/// the module. The recipe has no stores, and does not know the address that was called.
///
/// The bytes of the description are checked here. An argument is unknown if its expression is broken, if it reads a
/// register that the called function need not keep, if another compiler than GCC has written that it reads a register,
/// or if it needs an operation that a recipe does not have.
[[nodiscard]] call_recipe recipe_of_description(const call_description& described, const call_convention& convention,
                                                std::uint64_t module_begin);

/// The recipe for the parameters of a function, in its own frame: `at_call` is a register of this frame, and
/// `frame_address` the stack pointer of its caller. The same registers as above are read.
[[nodiscard]] call_recipe recipe_of_parameters(const parameter_places& places, const call_convention& convention);

}  // namespace mpiacq::unwinding
