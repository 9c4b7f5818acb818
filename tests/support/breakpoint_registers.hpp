// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the breakpoint registers of this machine work, as gdb finds it. In some virtual machines the kernel accepts a
// hardware breakpoint, and the processor runs over it.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "gdb.hpp"
#include "mpiacq/process/tracer.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

inline constexpr const char* breakpoint_registers_have_no_effect =
    "the breakpoint registers of this machine have no effect: gdb's hardware breakpoints stop no program, either";

/// gdb sets a hardware breakpoint at the second instruction of a program, and runs it from the first one. True without
/// gdb. Each test is a process of its own, and gdb takes longer than most of them. So the test that asks gdb keeps the
/// answer in the build folder, for the other tests. The answer holds until the machine boots again.
inline bool has_breakpoint_registers() {
  static const bool works = [] {
    std::string boot;
    std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, boot);
    const std::string kept = MPIACQ_KEPT_ANSWERS "/breakpoint_registers." + boot;
    std::string answer;
    if (std::getline(std::ifstream{kept}, answer) && (answer == "work" || answer == "no effect"))
      return answer == "work";
    const auto run =
        run_command(gdb_command({"-ex", "starti", "-ex", "set $first = $pc", "-ex", "stepi", "-ex", "hbreak *$pc",
                                 "-ex", "set $pc = $first", "-ex", "continue", "/bin/true"}));
    const bool ran_over = run.out.find("exited normally") != std::string::npos;
    const bool stopped = run.out.find("Breakpoint 1, ") != std::string::npos;
    // Where the build folder is another user's, nothing is kept.
    if (ran_over || stopped) std::ofstream(kept) << (ran_over ? "no effect" : "work") << '\n';
    return !ran_over;
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
