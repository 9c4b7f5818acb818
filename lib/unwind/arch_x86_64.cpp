// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <elf.h>

#include "arch.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::size_t rsp = 7;
constexpr std::size_t rip = 16;

template <std::size_t size>
bool begins_with(std::span<const std::byte> code, const std::array<std::uint8_t, size>& what) {
  return code.size() >= size && std::equal(what.begin(), what.end(), code.begin(),
                                           [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
}

}  // namespace

bool serves(const target_abi& abi) {
  return abi.elf_machine == EM_X86_64 && abi.pointer_size == 8 && abi.order == byte_order::little;
}

std::size_t register_count() {
  return rip + 1;
}
std::size_t pc_number() {
  return rip;
}
std::size_t sp_number() {
  return rsp;
}

bool has_plain_rows() {
  return true;
}

bool is_signal_return(std::span<const std::byte> code) {
  // mov $__NR_rt_sigreturn,%rax; syscall
  return begins_with(code, std::array<std::uint8_t, 9>{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
}

bool is_jump_stub(std::span<const std::byte> code) {
  constexpr std::array<std::uint8_t, 4> endbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  if (begins_with(code, endbr64)) code = code.subspan(endbr64.size());
  // jmp *offset(%rip), also with the prefix that lets it go where bounds are kept
  return begins_with(code, std::array<std::uint8_t, 2>{0xff, 0x25}) ||
         begins_with(code, std::array<std::uint8_t, 3>{0xf2, 0xff, 0x25});
}

/// The call has pushed its return address.
result<bool> undo_call(thread_registers& registers, memory_reader& memory) {
  std::array<std::byte, 8> word{};
  memory_range range{registers.sp, word};
  if (auto read = memory.read_ranges({&range, 1}); !read) return fail(std::move(read).error());
  if (range.got < word.size()) return false;
  registers.pc = target_address{decode_unsigned(word, byte_order::little)};
  registers.sp = registers.sp + word.size();
  registers.by_dwarf_number[rip] = registers.pc.value();
  registers.by_dwarf_number[rsp] = registers.sp.value();
  return true;
}

}  // namespace mpiacq::unwinding::arch
