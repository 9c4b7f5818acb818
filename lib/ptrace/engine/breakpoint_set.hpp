// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The breakpoints and watchpoints of one process, as a table: nothing here touches the process.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/ptrace_arch.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

struct breakpoint {
  target_address address;
  breakpoint_kind kind = breakpoint_kind::hardware;
  bool for_user = false;            ///< put in by insert_breakpoint
  bool for_entry = false;           ///< put in by the engine, to stop at the entry point
  std::vector<std::byte> original;  ///< software: the bytes that the trap instruction replaced
  std::uint8_t written = 0;         ///< not 0: a watchpoint, which watches so many bytes for writes

  [[nodiscard]] bool is_at(target_address where) const { return address == where && written == 0; }
  [[nodiscard]] bool watches(target_address where) const { return address == where && written != 0; }
  [[nodiscard]] bool is_software() const { return kind == breakpoint_kind::software; }
  [[nodiscard]] arch::hardware_trigger trigger() const { return {address, written}; }
};

/// Whom a breakpoint is for: &breakpoint::for_user or &breakpoint::for_entry.
using breakpoint_role = bool breakpoint::*;

struct breakpoint_set {
  std::vector<breakpoint> all;
  std::vector<breakpoint> past_traps;  ///< software ones that were taken out: a child forked before still has them
  arch::hardware_table hardware{};     ///< the hardware ones of `all`, by register
  bool had_any = false;                ///< since the tracer has the process
  bool lifted = false;                 ///< the traps of the software ones are out of the code for a while

  [[nodiscard]] breakpoint* at(target_address address);
  [[nodiscard]] const breakpoint* watch_at(target_address address) const;
  [[nodiscard]] bool has_software() const;
  [[nodiscard]] bool uses_registers() const { return hardware != arch::hardware_table{}; }
  /// A thread that stands here has to be stepped off a breakpoint before it can run.
  [[nodiscard]] bool needs_step_from(target_address address) const;
  /// The registers with the watchpoints alone.
  [[nodiscard]] arch::hardware_table watches() const;

  /// Takes a free register. False where none is left.
  [[nodiscard]] bool take_register(const arch::hardware_trigger& trigger);
  void free_register(const arch::hardware_trigger& trigger);
  /// Every software breakpoint that a child which was forked until now may have in its copy of the code.
  [[nodiscard]] std::vector<breakpoint> inherited_traps() const;
  /// The process has another program now. `had_any` stays.
  void forget_program();
};

/// Adds a trap to a list that has each address once.
void remember_trap(std::vector<breakpoint>& traps, const breakpoint& trap);

}  // namespace mpiacq::tracing
