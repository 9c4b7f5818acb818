// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a process's memory: a dynamic section, the hash tables it leads to, and a link map. The first bytes
// choose the ABI and where things begin; the rest is mapped at one address.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <elf.h>

#include "elf/dynamic_section.hpp"
#include "elf/dynamic_symbols.hpp"
#include "elf/elf_image.hpp"
#include "fake_memory.hpp"
#include "modules/auxiliary_vector.hpp"
#include "modules/ld_so_cache.hpp"
#include "modules/link_map.hpp"

using namespace mpiacq;

namespace {

constexpr std::size_t choices = 8;
constexpr std::uint64_t mapped_at = 0x10000;

target_abi chosen_abi(std::uint8_t choice) {
  constexpr std::array<std::uint16_t, 3> machines = {EM_X86_64, EM_386, EM_S390};
  return abi_of_elf((choice & 1) != 0 ? ELFCLASS32 : ELFCLASS64, (choice & 2) != 0 ? ELFDATA2MSB : ELFDATA2LSB,
                    machines[(choice >> 2) % machines.size()]);
}

void look_up_symbols(memory_reader& memory, const target_abi& abi, target_address bias, target_address at) {
  const auto section = elf::read_dynamic_section(memory, abi, bias, at);
  if (!section) return;
  for (const std::uint64_t offset : section->needed) (void)elf::read_dynamic_string(memory, *section, offset);
  const auto table = elf::dynamic_symbols::read(memory, abi, *section);
  if (!table) return;
  constexpr std::array<std::string_view, 4> names = {"MPIR_proctable", "MPIR_Breakpoint", "a", ""};
  (void)table->find(memory, names);
}

void follow_link_map(memory_reader& memory, const target_abi& abi, target_address at) {
  const auto head = elf::read_link_map_head(memory, abi, at);
  if (head) (void)elf::read_link_map(memory, abi, *head);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < choices) return 0;
  const target_abi abi = chosen_abi(data[0]);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::span<const std::byte> bytes{first + choices, size - choices};
  const auto place = [&](std::size_t i) {
    return target_address{mapped_at + decode_unsigned({first + i, 2}, byte_order::little)};
  };
  test::fake_memory memory;
  memory.map(target_address{mapped_at}, std::vector<std::byte>(bytes.begin(), bytes.end()));
  // Unrelocated pointers count from the mapping, relocated ones from 0.
  look_up_symbols(memory, abi, target_address{data[1] % 2 == 0 ? 0 : mapped_at}, place(2));
  follow_link_map(memory, abi, place(4));
  (void)elf::decode_auxiliary_vector(bytes, abi);
  (void)elf::decode_header(bytes);
  (void)elf::build_id_in_notes(bytes, abi);
  const elf::ld_so_cache cache{bytes};
  (void)cache.find("libc.so.6");
  return 0;
}
