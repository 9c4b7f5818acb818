// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What differs between processors. Each processor has one file that implements it; CMake chooses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sys/types.h>

#include "kernel/ptrace_call.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq::tracing::arch {

/// What one debug register stops a thread at: an instruction before it runs, or a write after it is done.
struct hardware_trigger {
  target_address address;
  std::uint8_t written = 0;  ///< 0: the instruction there; else how many bytes there are watched for writes
  friend bool operator==(const hardware_trigger&, const hardware_trigger&) = default;
};

/// The hardware breakpoints of a process by register. The fewest that any supported processor has are used: both
/// x86-64 and every aarch64 server core have four or more.
inline constexpr std::size_t hardware_registers = 4;
using hardware_table = std::array<std::optional<hardware_trigger>, hardware_registers>;

[[nodiscard]] result<target_address> program_counter(const ptrace_calls& calls, pid_t thread);
[[nodiscard]] result<target_address> stack_pointer(const ptrace_calls& calls, pid_t thread);
/// All general registers of a stopped thread.
[[nodiscard]] result<thread_registers> general_registers(const ptrace_calls& calls, pid_t thread);

/// The trap instruction that a software breakpoint is.
[[nodiscard]] std::span<const std::byte> trap_instruction();
/// An instruction can begin there.
[[nodiscard]] bool is_code_address(target_address address);
/// The SIGTRAP's si_code is that of a trap instruction.
[[nodiscard]] bool is_trap_instruction(int si_code);
/// Where the thread has just run the trap instruction at this address, puts its program counter onto that. Neither
/// allocates nor locks.
[[nodiscard]] bool step_back_to(const ptrace_calls& calls, pid_t thread, target_address trap);
/// The SIGTRAP's si_code is that of a finished single step.
[[nodiscard]] bool is_step_end(int si_code);

/// Why writes cannot be watched on this processor; null where they can.
[[nodiscard]] const char* why_no_writes();

/// Sets the breakpoint registers of one stopped thread to `table`. unsupported: the kernel has none free, or not of
/// this kind; invalid_argument: not an address of the program's.
[[nodiscard]] result<void> set_hardware(const ptrace_calls& calls, pid_t thread, const hardware_table& table);
/// Clears them. Neither allocates nor locks; an error means that the thread is being killed.
void clear_hardware(const ptrace_calls& calls, pid_t thread);
/// Sets all of them as in a thread that was never traced, for the next tracer.
void reset_hardware(const ptrace_calls& calls, pid_t thread);
/// The SIGTRAP's si_code is that of a breakpoint register. Only a tracer can set those.
[[nodiscard]] bool is_hardware_hit(int si_code);
/// The triggers in `table` that stopped the thread. Each is given once.
[[nodiscard]] result<std::vector<hardware_trigger>> hardware_hits(const ptrace_calls& calls, pid_t thread,
                                                                  const hardware_table& table);
/// A thread that goes on from a hardware breakpoint would hit it again. It must be stepped off while the breakpoint is
/// not armed.
[[nodiscard]] bool hardware_needs_step();

}  // namespace mpiacq::tracing::arch
