// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include "arch/unwind_x86.hpp"
#include "errors/try.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::size_t rsp = 7;
constexpr std::size_t rip = 16;

thread_registers registers_of(const thread_registers& thread) {
  return numbered_registers(thread);
}

bool is_signal_return(std::span<const std::byte> code) {
  // mov $__NR_rt_sigreturn,%rax; syscall
  return begins_with(code, std::array<std::uint8_t, 9>{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
}

bool is_jump_stub(std::span<const std::byte> code) {
  constexpr std::array<std::uint8_t, 4> endbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  if (begins_with(code, endbr64)) code = code.subspan(endbr64.size());
  // jmp *offset(%rip), also with the bnd prefix
  return begins_with(code, std::array<std::uint8_t, 2>{0xff, 0x25}) ||
         begins_with(code, std::array<std::uint8_t, 3>{0xf2, 0xff, 0x25});
}

result<bool> undo_call(thread_registers& registers, memory_reader& memory) {
  return pop_return_address(native(), registers, memory);
}

constexpr architecture x86_64 = {
    .register_count = rip + 1,
    .pc_number = rip,
    .sp_number = rsp,
    .word_size = 8,
    .has_plain_rows = true,
    .has_libunwind = true,
    .kept_registers = 1U << 3 | 1U << 6 | 0xf000,  // rbx, rbp, r12 to r15
    .registers_of = registers_of,
    .is_signal_return = is_signal_return,
    .is_jump_stub = is_jump_stub,
    .undo_call = undo_call,
};

}  // namespace

const architecture& native() {
  return x86_64;
}

const architecture* of(const target_abi& abi) {
  if (abi.order != byte_order::little) return nullptr;
  if (abi.elf_machine == EM_X86_64 && abi.pointer_size == 8) return &x86_64;
  if (abi.elf_machine == EM_386 && abi.pointer_size == 4) return &i386;
  return nullptr;
}

result<bool> pop_return_address(const architecture& machine, thread_registers& registers, memory_reader& memory) {
  std::array<std::byte, 8> bytes{};
  const std::span word = std::span{bytes}.first(machine.word_size);
  memory_range range{registers.sp, word};
  TRY(memory.read_ranges({&range, 1}));
  if (range.got < word.size()) return false;
  registers.pc = target_address{decode_unsigned(word, byte_order::little)};
  registers.sp = target_address{(registers.sp.value() + word.size()) & machine.mask()};
  registers.by_dwarf_number[machine.pc_number] = registers.pc.value();
  registers.by_dwarf_number[machine.sp_number] = registers.sp.value();
  return true;
}

}  // namespace mpiacq::unwinding::arch
