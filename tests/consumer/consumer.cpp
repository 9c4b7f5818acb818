// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The smallest program that uses the installed library: it reads an ABI and prints the name of an error.
#include <iostream>

#include <mpiacq/abi.hpp>
#include <mpiacq/error.hpp>

int main() {
  constexpr std::uint8_t elf_class_32 = 1;
  constexpr std::uint8_t elf_data_big = 2;
  constexpr std::uint16_t machine_ppc = 20;
  const mpiacq::target_abi abi = mpiacq::abi_of_elf(elf_class_32, elf_data_big, machine_ppc);
  const mpiacq::error refused = mpiacq::error{mpiacq::error_code::permission, "attach to 4242"}.with_errno(1);
  std::cout << int{abi.pointer_size} << ' ' << name(refused.code) << ": " << refused.message << '\n';
}
