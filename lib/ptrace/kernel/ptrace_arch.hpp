// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The functions that differ between processors. Each processor has one file that implements them; CMake selects it.
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

/// The trigger of one debug register: an instruction, before it executes, or a write, after it.
struct hardware_trigger {
  target_address address;
  std::uint8_t written = 0;  ///< 0: the instruction; otherwise the number of bytes watched for writes
  friend bool operator==(const hardware_trigger&, const hardware_trigger&) = default;
};

/// The hardware breakpoints of a process by register. The number is the minimum of all supported processors: x86-64 and
/// every aarch64 server core have four or more.
inline constexpr std::size_t hardware_registers = 4;
using hardware_table = std::array<std::optional<hardware_trigger>, hardware_registers>;

[[nodiscard]] result<target_address> program_counter(const ptrace_calls& calls, pid_t thread);
[[nodiscard]] result<target_address> stack_pointer(const ptrace_calls& calls, pid_t thread);
/// All general registers of a stopped thread.
[[nodiscard]] result<thread_registers> general_registers(const ptrace_calls& calls, pid_t thread);

/// The system call with which a thread ends.
enum class exit_call : std::uint8_t {
  none,        ///< it is in another call or in none: it is being killed
  exit,        ///< it ends alone, as by pthread_exit(3)
  exit_group,  ///< it ends its process, as by _exit(2)
};
/// The call that a thread in its exit stop has made.
[[nodiscard]] result<exit_call> last_exit_call(const ptrace_calls& calls, pid_t thread);

/// The trap instruction of a software breakpoint.
[[nodiscard]] std::span<const std::byte> trap_instruction();
/// Whether an instruction can begin at this address.
[[nodiscard]] bool is_code_address(target_address address);
/// Whether the SIGTRAP's si_code is that of a trap instruction.
[[nodiscard]] bool is_trap_instruction(int si_code);
/// If the thread has just executed the trap instruction at this address, sets its program counter back to it. Neither
/// allocates nor locks.
[[nodiscard]] bool step_back_to(const ptrace_calls& calls, pid_t thread, target_address trap);
/// Whether the SIGTRAP's si_code is that of a finished single step.
[[nodiscard]] bool is_step_end(int si_code);

/// The reason why this processor cannot watch writes; null if it can.
[[nodiscard]] const char* why_no_writes();

/// Sets the breakpoint registers of one stopped thread to `table`. Errors: unsupported: the kernel has no free
/// register, or none of this kind; invalid_argument: not an address of the program.
[[nodiscard]] result<void> set_hardware(const ptrace_calls& calls, pid_t thread, const hardware_table& table);
/// Clears the breakpoint registers. Neither allocates nor locks. Errors are ignored: they mean that the thread is being
/// killed.
void clear_hardware(const ptrace_calls& calls, pid_t thread);
/// Resets the breakpoint registers to the state of a thread that was never traced, for the next tracer.
void reset_hardware(const ptrace_calls& calls, pid_t thread);
/// Whether the SIGTRAP's si_code is that of a breakpoint register. Only a tracer can set those.
[[nodiscard]] bool is_hardware_hit(int si_code);
/// The triggers in `table` that stopped the thread, each one once.
[[nodiscard]] result<std::vector<hardware_trigger>> hardware_hits(const ptrace_calls& calls, pid_t thread,
                                                                  const hardware_table& table);
/// Whether a thread that continues from a hardware breakpoint would hit it again. If so, it must be stepped off while
/// the breakpoint is not armed.
[[nodiscard]] bool hardware_needs_step();

}  // namespace mpiacq::tracing::arch
