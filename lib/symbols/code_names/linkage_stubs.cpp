// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Stubs of the procedure linkage table have no symbols; a relocation names the target of their jump.
#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>

#include "code_names/function_symbols.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::uint64_t stub_size = 16;
/// The limit on the relocations in all sections of a file together.
constexpr std::uint64_t max_relocation_bytes = std::uint64_t{32} << 20;

/// The section of stubs that contains the address: .plt, .plt.sec, .plt.got.
std::optional<section> stubs_around(image& file, std::uint64_t address) {
  const auto all = file.sections();
  if (!all) return std::nullopt;
  for (const std::string_view name : {".plt.sec", ".plt", ".plt.got"}) {
    const auto found = file.find_section(name);
    if (!found || !*found || (*found)->type != SHT_PROGBITS) continue;
    if (address >= (*found)->address && address - (*found)->address < (*found)->size) return **found;
  }
  return std::nullopt;
}

/// The slot that a stub's `jmp *displacement(%rip)` reads; the jump is in its first bytes, after an optional endbr64
/// and an optional bnd prefix.
std::optional<std::uint64_t> slot_of(std::span<const std::byte> stub, std::uint64_t begin) {
  constexpr std::size_t jump_size = 6;
  for (std::size_t at = 0; at + jump_size <= stub.size() && at <= 5; ++at) {
    if (stub[at] != std::byte{0xff} || stub[at + 1] != std::byte{0x25}) continue;
    const std::int64_t displacement = decode_signed(stub.subspan(at + 2, 4), byte_order::little);
    return begin + at + jump_size + static_cast<std::uint64_t>(displacement);
  }
  return std::nullopt;
}

/// The name of the symbol that the relocations of one section write to `slot`.
std::optional<std::string> symbol_at_slot(image& file, const section& relocations, std::uint64_t slot,
                                          std::uint64_t& left) {
  constexpr std::size_t record = sizeof(Elf64_Rela);
  const auto all = file.sections();
  if (!all || relocations.link >= all->size() || relocations.size > left) return std::nullopt;
  left -= relocations.size;
  const section& symbols = (*all)[relocations.link];
  if (symbols.link >= all->size() || symbols.type == SHT_NOBITS) return std::nullopt;
  const auto bytes = file.contents(relocations);
  if (!bytes) return std::nullopt;
  for (std::size_t at = 0; at + record <= bytes->size(); at += record) {
    const auto word = [&](std::size_t i) {
      return decode_unsigned(std::span{*bytes}.subspan(at + i * 8, 8), byte_order::little);
    };
    if (word(0) != slot) continue;
    const std::uint64_t index = ELF64_R_SYM(word(1));
    const std::uint64_t size = symbol_record_size(file.abi());
    if (index == 0 || index >= symbols.size / size) return std::nullopt;
    const auto symbol = file.file().read(symbols.offset + index * size, size);
    if (!symbol) return std::nullopt;
    const section& strings = (*all)[symbols.link];
    const std::uint64_t name = decode_symbol(*symbol, file.abi()).name;
    if (strings.type == SHT_NOBITS || name >= strings.size) return std::nullopt;
    std::array<std::byte, 4096> text{};
    const auto got = file.file().read_some(
        strings.offset + name,
        std::span{text}.first(static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), strings.size - name))));
    if (!got) return std::nullopt;
    const auto end = std::find(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*got), std::byte{0});
    return std::string{reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(end - text.begin())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> function_of_stub(image& file, std::uint64_t address) {
  if (file.abi().elf_machine != EM_X86_64 || file.abi().pointer_size != 8) return std::nullopt;
  const auto stubs = stubs_around(file, address);
  if (!stubs) return std::nullopt;
  // Stubs of .plt.got have 8 bytes if branch targets need no endbr64.
  const std::uint64_t size = stubs->entry_size == 8 ? 8 : stub_size;
  const std::uint64_t begin = (address - stubs->address) / size * size;
  const std::uint64_t there = std::min(size, stubs->size - begin);
  if (stubs->offset > UINT64_MAX - begin) return std::nullopt;
  const auto bytes = file.file().read(stubs->offset + begin, there);
  const auto slot = bytes ? slot_of(*bytes, stubs->address + begin) : std::nullopt;
  if (!slot) return std::nullopt;
  const auto all = file.sections();
  std::uint64_t left = max_relocation_bytes;
  for (const section& s : *all) {
    if (s.type != SHT_RELA || (s.flags & SHF_ALLOC) == 0) continue;
    auto name = symbol_at_slot(file, s, *slot, left);
    if (name && !name->empty()) return name;
  }
  return std::nullopt;
}

}  // namespace mpiacq::elf
