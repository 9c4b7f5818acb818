// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include "arch.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::size_t link_register = 30;
constexpr std::size_t sp = 31;
constexpr std::size_t pc = 32;

std::uint64_t instruction(std::span<const std::byte> code, std::size_t index) {
  if (code.size() < 4 * (index + 1)) return 0;
  return decode_unsigned(code.subspan(4 * index, 4), byte_order::little);
}

}  // namespace

bool serves(const target_abi& abi) {
  return abi.elf_machine == EM_AARCH64 && abi.pointer_size == 8 && abi.order == byte_order::little;
}

std::size_t register_count() {
  return pc + 1;
}
std::size_t pc_number() {
  return pc;
}
std::size_t sp_number() {
  return sp;
}

/// A return address may be signed; libunwind knows what it is without that.
bool has_plain_rows() {
  return false;
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

/// The return address is in the link register; the stack is as it was. With it lost, nothing leads further.
result<bool> undo_call(thread_registers& registers, memory_reader&) {
  if (registers.by_dwarf_number[link_register] == registers.pc.value()) return false;
  registers.pc = target_address{registers.by_dwarf_number[link_register]};
  registers.by_dwarf_number[pc] = registers.pc.value();
  return true;
}

}  // namespace mpiacq::unwinding::arch
