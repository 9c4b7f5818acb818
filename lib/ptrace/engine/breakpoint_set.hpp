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
  bool for_user = false;            ///< inserted by insert_breakpoint
  bool for_entry = false;           ///< inserted by the engine, to stop at the entry point
  std::vector<std::byte> original;  ///< software: the bytes that the trap instruction replaced
  std::uint8_t written = 0;         ///< not 0: a watchpoint; the number of bytes that it watches for writes

  [[nodiscard]] bool is_at(target_address where) const { return address == where && written == 0; }
  [[nodiscard]] bool watches(target_address where) const { return address == where && written != 0; }
  [[nodiscard]] bool is_software() const { return kind == breakpoint_kind::software; }
  [[nodiscard]] arch::hardware_trigger trigger() const { return {address, written}; }
};

/// The role of a breakpoint: &breakpoint::for_user or &breakpoint::for_entry.
using breakpoint_role = bool breakpoint::*;

struct breakpoint_set {
  std::vector<breakpoint> all;
  std::vector<breakpoint> past_traps;  ///< removed software breakpoints: a child forked before still has them
  arch::hardware_table hardware{};     ///< the hardware ones of `all`, by register
  bool had_any = false;                ///< since the tracer attached to the process
  bool lifted = false;                 ///< the traps are temporarily removed from the code

  [[nodiscard]] breakpoint* at(target_address address);
  [[nodiscard]] const breakpoint* watch_at(target_address address) const;
  [[nodiscard]] bool has_software() const;
  [[nodiscard]] bool uses_registers() const { return hardware != arch::hardware_table{}; }
  /// Whether a thread that stands here must be stepped off a breakpoint before it can run.
  [[nodiscard]] bool needs_step_from(target_address address) const;
  /// The registers with only the watchpoints.
  [[nodiscard]] arch::hardware_table watches() const;

  /// Uses a free register. False if none is left.
  [[nodiscard]] bool take_register(const arch::hardware_trigger& trigger);
  void free_register(const arch::hardware_trigger& trigger);
  /// Every software breakpoint that a child forked until now can have in its copy of the code.
  [[nodiscard]] std::vector<breakpoint> inherited_traps() const;
  /// Forgets the breakpoints of the program that an exec has replaced. `had_any` stays.
  void forget_program();
};

/// Adds a trap to a list that has each address once.
void remember_trap(std::vector<breakpoint>& traps, const breakpoint& trap);

}  // namespace mpiacq::tracing
