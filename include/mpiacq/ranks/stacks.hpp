// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Frames, places and stacks. `unwinder` (process/unwinder.hpp) walks stacks, `code_catalogue` names their places, and
/// `call_tree` merges them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// A place in a program, for people. Two processes at the same place of one program have equal places, wherever their
/// modules are loaded.
struct code_place {
  std::string function;     ///< demangled, with parameters if the name has them; empty if there is no name
  std::string file;         ///< the source file, as the compiler recorded it; empty if it is not known
  std::uint32_t line = 0;   ///< 0 if it is not known
  std::string module_path;  ///< the module with the code; empty if it is in none
  module_offset offset;  ///< only if `function` is empty: the offset of the instruction in its module, or its address
  friend bool operator==(const code_place&, const code_place&) = default;
};

/// Whether the place is in a module that the system brought: a file below /lib or /usr/lib, or the kernel's vDSO. A
/// person mostly looks for the program's own places.
[[nodiscard]] bool is_of_system(const code_place& place);

/// One frame of a stack.
struct stack_frame {
  target_address pc;                        ///< the next instruction; in a caller, the instruction after its call
  std::shared_ptr<const code_place> place;  ///< never null; equal places of one catalogue are one object
  bool inlined = false;                     ///< the code was inlined into the next frame, which has the same `pc`
};

/// Why a stack has no more frames.
enum class stack_end : std::uint8_t {
  outermost,          ///< the unwind tables say that this frame has no caller
  no_unwind_info,     ///< there is no rule for leaving this frame
  unreadable_memory,  ///< the caller's frame is in memory that cannot be read
  no_progress,        ///< the rules lead to the same frame again, or to an inner frame
  frame_limit,        ///< there are more frames than requested
};
/// "outermost", "no-unwind-info", "unreadable-memory", "no-progress", "frame-limit"
[[nodiscard]] std::string_view name(stack_end end);

/// The stack of one thread at one moment, innermost frame first.
struct thread_stack {
  process_id process;
  thread_id thread;
  std::vector<stack_frame> frames;
  stack_end end = stack_end::outermost;
  std::string
      why;  ///< empty for `outermost`; else one clause that names the address: "no unwind information for 0x7f..."
};

}  // namespace mpiacq
