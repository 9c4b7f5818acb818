// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A module, registers and memory for small pieces of code whose arguments are known.
#pragma once

#include <optional>
#include <vector>

#include <elf.h>

#include "arguments/call_analysis.hpp"
#include "catch.hpp"
#include "fake_memory.hpp"

namespace mpiacq::unwinding {

inline constexpr std::uint64_t module = 0x555500000000;
inline constexpr std::uint64_t function = 0x1000;  // its offset in the module
inline constexpr std::uint64_t rbx = 0xaaaaaaaabbbbcc80;
inline constexpr std::uint64_t rbp = 0x7ffe00002000;
inline constexpr std::uint64_t sp = 0x7ffe00001f00;
inline constexpr std::uint64_t r12 = 0x1212121244445555;
inline constexpr std::uint64_t r13 = 0x1313131313131313;
inline constexpr std::uint64_t r14 = 0x1414141414141414;
inline constexpr std::uint64_t r15 = 0x6660;  // there is no memory
inline constexpr std::uint64_t x19 = rbx;
inline constexpr std::uint64_t x20 = r12;
inline constexpr std::uint64_t x21 = 0x777700000000;
inline constexpr std::uint64_t x29 = rbp;
inline constexpr std::uint64_t stale = 0xdeaddeaddeaddead;  // a register whose value at the call is lost

using expected = std::optional<std::uint64_t>;
inline constexpr expected unknown = std::nullopt;

inline void put(std::vector<std::byte>& bytes, std::uint64_t word) {
  for (unsigned i = 0; i < 64; i += 8) bytes.push_back(static_cast<std::byte>(word >> i));
}

inline test::fake_memory make_memory() {
  test::fake_memory memory;
  std::vector<std::byte> stack;
  constexpr std::uint64_t lowest = sp - 0x100;
  for (std::uint64_t at = lowest; at < rbp + 0x100; at += 8) put(stack, 0x99c0de000000aaea + ((at & 0xffffU) << 16U));
  memory.map(target_address{lowest}, stack);
  std::vector<std::byte> pointers;
  put(pointers, module + 0x3000);
  put(pointers, module + 0x3000);
  memory.map(target_address{module + 0x2000}, pointers);
  std::vector<std::byte> pointed_to;
  put(pointed_to, 0x1100000000);
  memory.map(target_address{module + 0x3000}, pointed_to);
  for (const std::uint64_t object : {rbx, x21}) {
    std::vector<std::byte> member;
    put(member, 0x77);
    memory.map(target_address{object + 0x10}, member);
  }
  return memory;
}

inline std::uint64_t word(std::uint64_t address) {
  test::fake_memory memory = make_memory();
  target_abi abi = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
  return read_unsigned(memory, abi, target_address{address}, 8).value();
}

inline std::uint64_t sign(std::uint64_t of) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(of)});
}

inline thread_registers x86_64_registers() {
  thread_registers all;
  all.by_dwarf_number.fill(stale);
  all.by_dwarf_number[3] = rbx;
  all.by_dwarf_number[6] = rbp;
  all.by_dwarf_number[7] = sp;
  all.sp = target_address{sp};
  all.by_dwarf_number[12] = r12;
  all.by_dwarf_number[13] = r13;
  all.by_dwarf_number[14] = r14;
  all.by_dwarf_number[15] = r15;
  return all;
}

inline thread_registers aarch64_registers() {
  thread_registers all;
  all.by_dwarf_number.fill(stale);
  all.by_dwarf_number[19] = x19;
  all.by_dwarf_number[20] = x20;
  all.by_dwarf_number[21] = x21;
  all.by_dwarf_number[29] = x29;
  all.by_dwarf_number[31] = sp;
  all.sp = target_address{sp};
  return all;
}

inline call_recipe analysed(const instruction_set& set, const std::vector<std::uint8_t>& code, std::uint64_t call_end,
                            const std::vector<std::uint64_t>& entered_at = {}) {
  std::vector<std::byte> bytes;
  for (const std::uint8_t byte : code) bytes.push_back(std::byte{byte});
  return analyse_call(set, {function, bytes, function + call_end, entered_at});
}

inline evaluated_call evaluated(const call_recipe& recipe, const thread_registers& registers, std::size_t count) {
  test::fake_memory memory = make_memory();
  auto call = evaluate(recipe, {registers, ~std::uint64_t{0}, target_address{module}, memory}, count);
  REQUIRE(call.has_value());
  return *call;
}

inline void check_row(const char* what, const evaluated_call& call, const std::vector<expected>& wanted) {
  REQUIRE(call.arguments.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(what, i);
    REQUIRE(call.arguments[i].has_value() == wanted[i].has_value());
    if (wanted[i]) CHECK(call.arguments[i]->number == *wanted[i]);
  }
}

}  // namespace mpiacq::unwinding
