// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <asm/ptrace.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "kernel/ptrace_arch.hpp"

namespace mpiacq::tracing::arch {

namespace {

// brk #0, in the byte order of instructions, which is little on every aarch64.
constexpr std::array<std::byte, 4> brk_0 = {std::byte{0x00}, std::byte{0x00}, std::byte{0x20}, std::byte{0xd4}};

// Enabled, at EL0, all four bytes of the instruction, on execution (DBGBCR, Arm ARM D13.3.2).
constexpr std::uint32_t control_on = 1U | 2U << 1 | 0xfU << 5;

constexpr std::size_t head_bytes = offsetof(user_hwdebug_state, dbg_regs);
constexpr std::size_t register_bytes = sizeof(user_hwdebug_state{}.dbg_regs[0]);

result<user_regs_struct> registers(const ptrace_calls& calls, pid_t thread) {
  user_regs_struct all{};
  return calls.get_registers(thread, NT_PRSTATUS, std::as_writable_bytes(std::span{&all, 1})).map([&](std::size_t) {
    return all;
  });
}

user_hwdebug_state state_of(const hardware_table& table) {
  user_hwdebug_state state{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i]) continue;
    state.dbg_regs[i].addr = table[i]->address.value();
    state.dbg_regs[i].ctrl = control_on;
  }
  return state;
}

}  // namespace

result<target_address> program_counter(const ptrace_calls& calls, pid_t thread) {
  return registers(calls, thread).map([](const user_regs_struct& all) { return target_address{all.pc}; });
}

result<target_address> stack_pointer(const ptrace_calls& calls, pid_t thread) {
  return registers(calls, thread).map([](const user_regs_struct& all) { return target_address{all.sp}; });
}

result<thread_registers> general_registers(const ptrace_calls& calls, pid_t thread) {
  return registers(calls, thread).map([&](const user_regs_struct& r) {
    thread_registers all;
    all.thread = thread_id{thread};
    std::copy(std::begin(r.regs), std::end(r.regs), all.by_dwarf_number.begin());
    all.by_dwarf_number[31] = r.sp;
    all.by_dwarf_number[32] = r.pc;
    all.count = 33;
    all.pc = target_address{r.pc};
    all.sp = target_address{r.sp};
    const auto bytes = std::as_bytes(std::span{&r, 1});
    all.prstatus_registers.assign(bytes.begin(), bytes.end());
    return all;
  });
}

result<exit_call> last_exit_call(const ptrace_calls& calls, pid_t thread) {
  // x8 keeps a number after its call has returned. This register set has -1 for a thread that is not in a call.
  int number = -1;
  return calls.get_registers(thread, NT_ARM_SYSTEM_CALL, std::as_writable_bytes(std::span{&number, 1}))
      .map([&](std::size_t) {
        if (number == SYS_exit) return exit_call::exit;
        return number == SYS_exit_group ? exit_call::exit_group : exit_call::none;
      });
}

std::span<const std::byte> trap_instruction() {
  return brk_0;
}

bool is_code_address(target_address address) {
  return address.value() % brk_0.size() == 0;
}

bool is_trap_instruction(int si_code) {
  return si_code == TRAP_BRKPT;
}

bool step_back_to(const ptrace_calls& calls, pid_t thread, target_address trap) {
  // The program counter stays on brk.
  user_regs_struct all{};
  iovec piece{&all, sizeof all};
  const auto where = reinterpret_cast<unsigned long>(&piece);
  return calls.raw(PTRACE_GETREGSET, thread, NT_PRSTATUS, where) >= 0 && all.pc == trap.value();
}

bool is_step_end(int si_code) {
  return si_code == TRAP_TRACE;
}

const char* why_no_writes() {
  return "an aarch64 processor stops before a watched write and not after it, which is not provided for";
}

result<void> set_hardware(const ptrace_calls& calls, pid_t thread, const hardware_table& table) {
  const user_hwdebug_state state = state_of(table);
  // Only the used registers are written: the kernel refuses more than the processor has.
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i]) count = i + 1;
  }
  clear_hardware(calls, thread);
  if (count == 0) return {};
  const auto bytes = std::as_bytes(std::span{&state, 1}).first(head_bytes + count * register_bytes);
  auto set = calls.set_registers(thread, NT_ARM_HW_BREAK, bytes);
  if (set || set.error().code != error_code::system) return set;
  const int reason = set.error().system_errno;
  if (reason == EINVAL) {
    return fail(error{error_code::invalid_argument, "the address is not one of the program's code"}.with_errno(reason));
  }
  return fail(error{error_code::unsupported,
                    fmt::format("no breakpoint register of thread {} can be had for a hardware breakpoint", thread)}
                  .with_errno(reason));
}

void clear_hardware(const ptrace_calls& calls, pid_t thread) {
  // The call is tried with fewer and fewer registers, because their number differs between processors.
  user_hwdebug_state none{};
  for (std::size_t count = hardware_registers; count > 0; --count) {
    iovec piece{&none, head_bytes + count * register_bytes};
    if (calls.raw(PTRACE_SETREGSET, thread, NT_ARM_HW_BREAK, reinterpret_cast<unsigned long>(&piece)) >= 0) return;
  }
}

void reset_hardware(const ptrace_calls& calls, pid_t thread) {
  clear_hardware(calls, thread);
}

bool is_hardware_hit(int si_code) {
  return si_code == TRAP_HWBKPT;
}

result<std::vector<hardware_trigger>> hardware_hits(const ptrace_calls& calls, pid_t thread,
                                                    const hardware_table& table) {
  // An execution breakpoint stops the thread before its instruction, so that the program counter is its address.
  const auto at = program_counter(calls, thread);
  if (!at) return fail(at.error());
  std::vector<hardware_trigger> hits;
  for (const auto& trigger : table) {
    if (trigger && trigger->address == *at) hits.push_back(*trigger);
  }
  return hits;
}

bool hardware_needs_step() {
  return true;
}

}  // namespace mpiacq::tracing::arch
