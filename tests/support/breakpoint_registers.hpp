// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the breakpoint registers of this machine work, as gdb finds it. In some virtual machines the kernel accepts a
// hardware breakpoint, and the processor runs over it.
#pragma once

#include <vector>

#include "mpiacq/process/tracer.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

inline constexpr const char* breakpoint_registers_have_no_effect =
    "the breakpoint registers of this machine have no effect: gdb's hardware breakpoints stop no program, either";

/// gdb sets a hardware breakpoint at the second instruction of a program, and runs it from the first one. True without
/// gdb.
inline bool has_breakpoint_registers() {
  static const bool works = [] {
    const auto run = run_command({"gdb", "-nx", "-batch", "-ex", "starti", "-ex", "set $first = $pc", "-ex", "stepi",
                                  "-ex", "hbreak *$pc", "-ex", "set $pc = $first", "-ex", "continue", "/bin/true"});
    return run.out.find("exited normally") == std::string::npos;
  }();
  return works;
}

/// The kinds of breakpoints that stop a program on this machine.
inline std::vector<breakpoint_kind> kinds_here() {
  if (!has_breakpoint_registers()) return {breakpoint_kind::software};
  return {breakpoint_kind::hardware, breakpoint_kind::software};
}

/// What a breakpoint of no chosen kind becomes on this machine.
inline breakpoint_kind preferred_kind() {
  return kinds_here().front();
}

}  // namespace mpiacq::test
