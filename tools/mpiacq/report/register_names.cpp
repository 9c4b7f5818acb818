// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/register_names.hpp"

#include <array>
#include <string_view>

namespace mpiacq::tool {

namespace {

// The DWARF numbers of x86-64, as registers.hpp has them.
constexpr std::array<std::string_view, 17> x86_64_names = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                                           "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
constexpr std::size_t aarch64_count = 33;
constexpr std::size_t aarch64_sp = 31;

std::string name_of_register(std::size_t number, std::size_t count) {
  if (count == x86_64_names.size()) return std::string(x86_64_names[number]);
  if (count != aarch64_count) return "r" + std::to_string(number);
  if (number < aarch64_sp) return "x" + std::to_string(number);
  return number == aarch64_sp ? "sp" : "pc";
}

}  // namespace

std::vector<named_register> named_registers(const thread_registers& registers) {
  std::vector<named_register> all;
  if (registers.count == 0) return all;
  const std::size_t last = registers.count - std::size_t{1};
  const auto add = [&](std::size_t number) {
    all.push_back({name_of_register(number, registers.count), target_address{registers.by_dwarf_number[number]}});
  };
  add(last);  // the program counter
  for (std::size_t number = 0; number < last; ++number) add(number);
  return all;
}

}  // namespace mpiacq::tool
