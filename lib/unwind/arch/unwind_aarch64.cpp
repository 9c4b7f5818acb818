// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::size_t link_register = 30;
constexpr std::size_t sp = 31;
constexpr std::size_t pc = 32;

std::uint64_t instruction(std::span<const std::byte> code, std::size_t index) {
  if (code.size() < 4 * (index + 1)) return 0;
  return decode_unsigned(code.subspan(4 * index, 4), byte_order::little);
}

/// The kernel numbers the registers as DWARF does.
thread_registers registers_of(const thread_registers& thread) {
  return numbered_registers(thread);
}

bool is_signal_return(std::span<const std::byte> code) {
  // mov x8, #__NR_rt_sigreturn; svc #0
  return instruction(code, 0) == 0xd2801168 && instruction(code, 1) == 0xd4000001;
}

bool is_jump_stub(std::span<const std::byte> code) {
  constexpr std::uint64_t landing_pad = 0xd503245f;  // bti c
  const std::size_t first = instruction(code, 0) == landing_pad ? 1 : 0;
  // adrp x16, page; ldr x17, [x16, #offset]
  return (instruction(code, first) & 0x9f00001f) == 0x90000010 &&
         (instruction(code, first + 1) & 0xffc003ff) == 0xf9400211;
}

/// The return address is in the link register, and the stack is unchanged. If the link register is lost, the caller
/// cannot be found.
result<bool> undo_call(thread_registers& registers, memory_reader&) {
  if (registers.by_dwarf_number[link_register] == registers.pc.value()) return false;
  registers.pc = target_address{registers.by_dwarf_number[link_register]};
  registers.by_dwarf_number[pc] = registers.pc.value();
  return true;
}

constexpr architecture aarch64 = {
    .register_count = pc + 1,
    .pc_number = pc,
    .sp_number = sp,
    .word_size = 8,
    .has_plain_rows = false,  // a return address may be signed; libunwind detects that by itself
    .has_libunwind = true,
    .kept_registers = 0x3ff80000,  // x19 to x29
    .registers_of = registers_of,
    .is_signal_return = is_signal_return,
    .is_jump_stub = is_jump_stub,
    .undo_call = undo_call,
};

}  // namespace

const architecture& native() {
  return aarch64;
}

const architecture* of(const target_abi& abi) {
  const bool is_ours = abi.elf_machine == EM_AARCH64 && abi.pointer_size == 8 && abi.order == byte_order::little;
  return is_ours ? &aarch64 : nullptr;
}

}  // namespace mpiacq::unwinding::arch
