// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Code of 32 bits in a process of an x86-64 kernel (System V ABI, Intel386, "DWARF Register Number Mapping").
#include "arch/unwind_x86.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::size_t esp = 4;
constexpr std::size_t eip = 8;

/// The kernel gives a 64-bit tracer the registers of such a thread in the x86-64 form. DWARF numbers them in another
/// order.
thread_registers registers_of(const thread_registers& thread) {
  constexpr std::size_t rax = 0, rdx = 1, rcx = 2, rbx = 3, rsi = 4, rdi = 5, rbp = 6, rsp = 7, rip = 16;
  constexpr std::array<std::size_t, eip + 1> number_on_x86_64 = {rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, rip};
  thread_registers own;
  own.thread = thread.thread;
  own.count = number_on_x86_64.size();
  for (std::size_t i = 0; i < number_on_x86_64.size(); ++i) {
    own.by_dwarf_number[i] = thread.by_dwarf_number[number_on_x86_64[i]] & UINT32_MAX;
  }
  own.pc = target_address{thread.pc.value() & UINT32_MAX};
  own.sp = target_address{thread.sp.value() & UINT32_MAX};
  return own;
}

/// A signal handler returns to code in the vDSO, which has tables. No other code makes this system call.
bool is_signal_return(std::span<const std::byte>) {
  return false;
}

bool is_jump_stub(std::span<const std::byte> code) {
  constexpr std::array<std::uint8_t, 4> endbr32 = {0xf3, 0x0f, 0x1e, 0xfb};
  if (begins_with(code, endbr32)) code = code.subspan(endbr32.size());
  // jmp *address; jmp *offset(%ebx)
  return begins_with(code, std::array<std::uint8_t, 2>{0xff, 0x25}) ||
         begins_with(code, std::array<std::uint8_t, 2>{0xff, 0xa3});
}

result<bool> undo_call(thread_registers& registers, memory_reader& memory) {
  return pop_return_address(i386, registers, memory);
}

}  // namespace

constexpr architecture i386 = {
    .register_count = eip + 1,
    .pc_number = eip,
    .sp_number = esp,
    .word_size = 4,
    .has_plain_rows = true,
    .has_libunwind = false,
    .kept_registers = 1U << 3 | 1U << 5 | 1U << 6 | 1U << 7,  // ebx, ebp, esi, edi
    .registers_of = registers_of,
    .is_signal_return = is_signal_return,
    .is_jump_stub = is_jump_stub,
    .undo_call = undo_call,
};

}  // namespace mpiacq::unwinding::arch
