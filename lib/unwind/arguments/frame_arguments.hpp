// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpiacq/process/call_arguments.hpp"
#include "mpiacq/process/call_description.hpp"
#include "walk/stack_walk.hpp"

namespace mpiacq::unwinding {

/// One call on a stack: the called function's frame, and how many arguments to find.
struct wanted_call {
  std::size_t frame = 0;
  std::size_t arguments = 0;
};

/// What asks debug information. Both may be empty.
struct call_questions {
  const find_call_description& call;
  const find_parameter_places& places;
};

/// The arguments of a call on a stack whose `top` has been read. Errors: only errors that concern the whole target.
[[nodiscard]] result<call_arguments> arguments_of(process_view& process, std::uint16_t elf_machine,
                                                  const thread_registers& thread, std::span<const std::byte> top,
                                                  const wanted_call& call, const call_questions& ask);

}  // namespace mpiacq::unwinding
