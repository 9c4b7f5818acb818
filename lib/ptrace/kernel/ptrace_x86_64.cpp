// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "errors/try.hpp"
#include "kernel/ptrace_arch.hpp"

namespace mpiacq::tracing::arch {

namespace {

constexpr std::array<std::byte, 1> int3 = {std::byte{0xcc}};
constexpr std::size_t debug_status = 6;   // DR6: the register that was hit
constexpr std::size_t debug_control = 7;  // DR7: the enabled registers and their types
constexpr unsigned long which_register = 0xf;
constexpr unsigned long single_step = 0x4000;

constexpr std::size_t debug_register(std::size_t number) {
  return offsetof(struct user, u_debugreg) + number * sizeof(unsigned long);
}

/// Type and length of a register, encoded for DR7 (Intel SDM 3B, 18.2.4). Type 0 is on execution, with length 0; type 1
/// is on a write. The encoding of a length is not its number of bytes.
unsigned long type_and_length(const hardware_trigger& trigger) {
  constexpr unsigned long on_write = 1;
  switch (trigger.written) {
    case 0:
      return 0;
    case 1:
      return on_write;
    case 2:
      return on_write | 1UL << 2;
    case 8:
      return on_write | 2UL << 2;
    default:
      return on_write | 3UL << 2;
  }
}

/// The "local enable" bits of the registers and, above them, four bits of type and length for each register.
unsigned long control_of(const hardware_table& table) {
  unsigned long control = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i]) control |= 1UL << (2 * i) | type_and_length(*table[i]) << (16 + 4 * i);
  }
  return control;
}

error refused(error e, pid_t thread, std::optional<target_address> address) {
  if (e.code != error_code::system) return e;
  const int reason = e.system_errno;
  if (address && reason == EINVAL) {
    return error{error_code::invalid_argument, fmt::format("{:#x} is no address of the program's", address->value())}
        .with_errno(reason)
        .at(*address);
  }
  return error{error_code::unsupported,
               fmt::format("no debug register of thread {} can be had for a hardware breakpoint", thread)}
      .with_errno(reason);
}

}  // namespace

result<target_address> program_counter(const ptrace_calls& calls, pid_t thread) {
  return calls.peek_user(thread, offsetof(struct user_regs_struct, rip)).map([](unsigned long v) {
    return target_address{v};
  });
}

result<target_address> stack_pointer(const ptrace_calls& calls, pid_t thread) {
  return calls.peek_user(thread, offsetof(struct user_regs_struct, rsp)).map([](unsigned long v) {
    return target_address{v};
  });
}

result<thread_registers> general_registers(const ptrace_calls& calls, pid_t thread) {
  user_regs_struct r{};
  const auto bytes = std::as_writable_bytes(std::span{&r, 1});
  const std::size_t filled = std::min(TRY(calls.get_registers(thread, NT_PRSTATUS, bytes)), bytes.size());
  thread_registers all;
  all.prstatus_registers.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(filled));
  if (filled < bytes.size()) {
    // The register set has another layout for a thread that runs 32-bit code. PTRACE_GETREGS always has the caller's
    // layout.
    const long got = calls.raw(PTRACE_GETREGS, thread, 0, reinterpret_cast<unsigned long>(&r));
    if (got < 0) return fail(ptrace_failure("read the registers of", thread, static_cast<int>(-got)));
  }
  all.thread = thread_id{thread};
  const auto by_number = std::to_array<std::uint64_t>({r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                                       r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip});
  std::copy(by_number.begin(), by_number.end(), all.by_dwarf_number.begin());
  all.count = static_cast<std::uint8_t>(by_number.size());
  all.pc = target_address{r.rip};
  all.sp = target_address{r.rsp};
  return all;
}

result<exit_call> last_exit_call(const ptrace_calls& calls, pid_t thread) {
  user_regs_struct r{};
  const auto bytes = std::as_writable_bytes(std::span{&r, 1});
  const std::size_t filled = TRY(calls.get_registers(thread, NT_PRSTATUS, bytes));
  if (filled == bytes.size()) {
    constexpr std::uint64_t x32_call = 0x40000000;
    const std::uint64_t number = r.orig_rax & ~x32_call;
    if (number == SYS_exit) return exit_call::exit;
    return number == SYS_exit_group ? exit_call::exit_group : exit_call::none;
  }
  // The registers of 32-bit code; the calls have other numbers there.
  constexpr std::size_t original_eax = 11;
  constexpr std::uint32_t exit_of_i386 = 1;
  constexpr std::uint32_t exit_group_of_i386 = 252;
  std::uint32_t number = 0;
  if (filled < (original_eax + 1) * sizeof number) return exit_call::none;
  std::memcpy(&number, bytes.data() + original_eax * sizeof number, sizeof number);
  if (number == exit_of_i386) return exit_call::exit;
  return number == exit_group_of_i386 ? exit_call::exit_group : exit_call::none;
}

std::span<const std::byte> trap_instruction() {
  return int3;
}

bool is_code_address(target_address) {
  return true;
}

bool is_trap_instruction(int si_code) {
  return si_code == SI_KERNEL;
}

bool step_back_to(const ptrace_calls& calls, pid_t thread, target_address trap) {
  constexpr std::size_t counter = offsetof(struct user_regs_struct, rip);
  // The program counter is behind the trap instruction.
  std::uint64_t now = 0;
  if (calls.raw(PTRACE_PEEKUSER, thread, counter, reinterpret_cast<unsigned long>(&now)) < 0) return false;
  if (now != trap.value() + int3.size()) return false;
  return calls.raw(PTRACE_POKEUSER, thread, counter, trap.value()) >= 0;
}

bool is_step_end(int si_code) {
  // The kernel reports TRAP_BRKPT after a step over a system call.
  return si_code == TRAP_TRACE || si_code == TRAP_BRKPT;
}

const char* why_no_writes() {
  return nullptr;
}

result<void> set_hardware(const ptrace_calls& calls, pid_t thread, const hardware_table& table) {
  // An enabled register cannot be set to every address, so that all are disabled first.
  if (auto off = calls.poke_user(thread, debug_register(debug_control), 0); !off) {
    return fail(refused(std::move(off).error(), thread, {}));
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i]) continue;
    if (auto set = calls.poke_user(thread, debug_register(i), table[i]->address.value()); !set) {
      return fail(refused(std::move(set).error(), thread, table[i]->address));
    }
  }
  if (auto on = calls.poke_user(thread, debug_register(debug_control), control_of(table)); !on) {
    return fail(refused(std::move(on).error(), thread, {}));
  }
  return {};
}

void clear_hardware(const ptrace_calls& calls, pid_t thread) {
  static_cast<void>(calls.raw(PTRACE_POKEUSER, thread, debug_register(debug_control), 0));
}

void reset_hardware(const ptrace_calls& calls, pid_t thread) {
  clear_hardware(calls, thread);
  const auto clear = [&](std::size_t number, unsigned long bits) {
    const auto value = calls.peek_user(thread, debug_register(number));
    // An unused register is not written: the kernel would reserve one of the processor's registers for it.
    if (value && (*value & bits) != 0) {
      static_cast<void>(calls.poke_user(thread, debug_register(number), *value & ~bits));
    }
  };
  for (std::size_t i = 0; i < hardware_registers; ++i) clear(i, ~0UL);
  clear(debug_status, which_register | single_step);
}

bool is_hardware_hit(int si_code) {
  return si_code == TRAP_HWBKPT;
}

result<std::vector<hardware_trigger>> hardware_hits(const ptrace_calls& calls, pid_t thread,
                                                    const hardware_table& table) {
  const auto status = calls.peek_user(thread, debug_register(debug_status));
  if (!status) return fail(status.error());
  // The processor sets these bits and never clears them.
  if (auto cleared = calls.poke_user(thread, debug_register(debug_status), *status & ~which_register); !cleared) {
    return fail(std::move(cleared).error());
  }
  std::vector<hardware_trigger> hits;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if ((*status >> i & 1) != 0 && table[i]) hits.push_back(*table[i]);
  }
  return hits;
}

// The kernel sets the resume flag (RF) at the trap, and the processor then executes the instruction once without a hit.
bool hardware_needs_step() {
  return false;
}

}  // namespace mpiacq::tracing::arch
