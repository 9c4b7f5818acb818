// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What stacks are made of. Who walks them is `unwinder.hpp`, who names their places `code_catalogue.hpp`, who asks a
// whole node for them `node_ranks.hpp`, and what they become together `call_tree.hpp`.
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

/// Where in a program a frame stands, as a person would say it. Two processes of one program that stand at the same
/// place have equal places, wherever their modules are loaded.
struct code_place {
  std::string function;     ///< demangled, with its parameters where the name has them; empty where nothing names it
  std::string file;         ///< of the source, as the compiler recorded it; empty where nothing says
  std::uint32_t line = 0;   ///< 0 where nothing says
  std::string module_path;  ///< the module that the code is in; empty where it is in none
  module_offset offset;     ///< set only where `function` is empty: of the instruction in its module, or its address
  friend bool operator==(const code_place&, const code_place&) = default;
};

/// One call that is in progress.
struct stack_frame {
  target_address pc;                        ///< the instruction that runs next; in a caller, the one after its call
  std::shared_ptr<const code_place> place;  ///< never null; equal places that one catalogue gave are one object
  bool inlined = false;                     ///< the compiler put its code into the next frame's, whose `pc` this is
};

/// Why a stack has no more frames.
enum class stack_end : std::uint8_t {
  outermost,          ///< the unwind tables say that nobody called this one
  no_unwind_info,     ///< nothing says how to leave this frame
  unreadable_memory,  ///< the caller was on memory that cannot be read
  no_progress,        ///< what the tables lead to is no caller: the same frame again, or one further in
  frame_limit,        ///< there are more frames than were asked for
};
/// "outermost", "no-unwind-info", "unreadable-memory", "no-progress", "frame-limit"
[[nodiscard]] std::string_view name(stack_end end);

/// The calls of one thread at one stop, innermost first.
struct thread_stack {
  process_id process;
  thread_id thread;
  std::vector<stack_frame> frames;
  stack_end end = stack_end::outermost;
  std::string why;  ///< empty for `outermost`; else one clause with the address, "no unwind information for 0x7f..."
};

}  // namespace mpiacq
