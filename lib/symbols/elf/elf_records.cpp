// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/elf_records.hpp"

#include <algorithm>
#include <array>

#include <elf.h>

namespace mpiacq::elf {

namespace {

/// Reads one field of a record after the other. Past the end it returns 0.
class field_reader {
 public:
  field_reader(std::span<const std::byte> bytes, const target_abi& abi) : bytes_(bytes), abi_(abi) {}

  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)); }
  std::uint16_t half() { return static_cast<std::uint16_t>(take(2)); }
  std::uint32_t word() { return static_cast<std::uint32_t>(take(4)); }
  /// An address, offset or size: as wide as the class.
  std::uint64_t wide() { return take(abi_.pointer_size); }
  std::int64_t signed_wide() {
    const std::size_t size = abi_.pointer_size;
    if (bytes_.size() < size) return 0;
    const std::int64_t value = decode_signed(bytes_.first(size), abi_.order);
    bytes_ = bytes_.subspan(size);
    return value;
  }

 private:
  std::uint64_t take(std::size_t size) {
    if (bytes_.size() < size) return 0;
    const std::uint64_t value = decode_unsigned(bytes_.first(size), abi_.order);
    bytes_ = bytes_.subspan(size);
    return value;
  }

  std::span<const std::byte> bytes_;
  target_abi abi_;
};

bool is_64(const target_abi& abi) {
  return abi.pointer_size == 8;
}

std::uint8_t at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<std::uint8_t>(bytes[i]);
}

}  // namespace

bool has_magic(std::span<const std::byte> bytes) {
  constexpr std::array<std::uint8_t, SELFMAG> magic = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin(), [](auto a, auto b) {
           return a == std::to_integer<std::uint8_t>(b);
         });
}

std::optional<file_header> decode_header(std::span<const std::byte> bytes) {
  if (!has_magic(bytes) || bytes.size() < EI_NIDENT) return std::nullopt;
  const std::uint8_t elf_class = at(bytes, EI_CLASS);
  const std::uint8_t data = at(bytes, EI_DATA);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) return std::nullopt;
  if (data != ELFDATA2LSB && data != ELFDATA2MSB) return std::nullopt;
  if (bytes.size() < (elf_class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))) return std::nullopt;

  file_header h;
  field_reader fields{bytes.subspan(EI_NIDENT), abi_of_elf(elf_class, data, 0)};
  h.type = fields.half();
  h.abi = abi_of_elf(elf_class, data, fields.half());
  fields.word();  // e_version
  h.entry = fields.wide();
  h.segments_offset = fields.wide();
  h.sections_offset = fields.wide();
  fields.word();  // e_flags
  fields.half();  // e_ehsize
  h.segment_size = fields.half();
  h.segment_count = fields.half();
  h.section_size = fields.half();
  h.section_count = fields.half();
  h.section_names = fields.half();
  return h;
}

std::size_t segment_record_size(const target_abi& abi) {
  return is_64(abi) ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}
std::size_t section_record_size(const target_abi& abi) {
  return is_64(abi) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}
std::size_t symbol_record_size(const target_abi& abi) {
  return is_64(abi) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}
std::size_t dynamic_entry_size(const target_abi& abi) {
  return 2 * std::size_t{abi.pointer_size};
}

segment decode_segment(std::span<const std::byte> bytes, const target_abi& abi) {
  field_reader fields{bytes, abi};
  segment s;
  s.type = fields.word();
  if (is_64(abi)) s.flags = fields.word();  // the two classes have this field at different places
  s.offset = fields.wide();
  s.address = fields.wide();
  fields.wide();  // p_paddr
  s.file_size = fields.wide();
  s.memory_size = fields.wide();
  if (!is_64(abi)) s.flags = fields.word();
  s.alignment = fields.wide();
  return s;
}

section decode_section(std::span<const std::byte> bytes, const target_abi& abi) {
  field_reader fields{bytes, abi};
  section s;
  s.name = fields.word();
  s.type = fields.word();
  s.flags = fields.wide();
  s.address = fields.wide();
  s.offset = fields.wide();
  s.size = fields.wide();
  s.link = fields.word();
  s.info = fields.word();
  fields.wide();  // sh_addralign
  s.entry_size = fields.wide();
  return s;
}

symbol_record decode_symbol(std::span<const std::byte> bytes, const target_abi& abi) {
  field_reader fields{bytes, abi};
  symbol_record s;
  s.name = fields.word();
  if (!is_64(abi)) {
    s.value = fields.wide();
    s.size = fields.wide();
  }
  s.info = fields.byte();
  fields.byte();  // st_other
  s.section = fields.half();
  if (is_64(abi)) {
    s.value = fields.wide();
    s.size = fields.wide();
  }
  return s;
}

dynamic_entry decode_dynamic(std::span<const std::byte> bytes, const target_abi& abi) {
  field_reader fields{bytes, abi};
  dynamic_entry e;
  e.tag = fields.signed_wide();
  e.value = fields.wide();
  return e;
}

}  // namespace mpiacq::elf
