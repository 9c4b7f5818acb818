// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/memory_elf.hpp"

#include <algorithm>

#include <elf.h>

namespace mpiacq::elf {

namespace {

/// libelf uses records in place if they are aligned.
constexpr std::uint64_t alignment = 16;

constexpr std::uint64_t aligned(std::uint64_t at) {
  return (at + alignment - 1) & ~(alignment - 1);
}

/// Puts one field after the other into a record.
class field_writer {
 public:
  field_writer(std::span<std::byte> into, const target_abi& abi) : into_(into), abi_(abi) {}

  field_writer& byte(std::uint64_t value) { return put(value, 1); }
  field_writer& half(std::uint64_t value) { return put(value, 2); }
  field_writer& word(std::uint64_t value) { return put(value, 4); }
  /// An address, offset or size: as wide as the class.
  field_writer& wide(std::uint64_t value) { return put(value, abi_.pointer_size); }

 private:
  field_writer& put(std::uint64_t value, std::size_t size) {
    encode_integer(value, abi_.order, into_.first(size));
    into_ = into_.subspan(size);
    return *this;
  }

  std::span<std::byte> into_;
  target_abi abi_;
};

}  // namespace

memory_elf::memory_elf(const target_abi& abi, std::uint16_t type, std::vector<part> parts)
    : abi_(abi), parts_(std::move(parts)) {
  std::string names(1, '\0');
  std::vector<std::uint32_t> name_offsets;
  parts_.push_back({".shstrtab", {}});
  parts_.back().header.type = SHT_STRTAB;
  for (const part& p : parts_) {
    name_offsets.push_back(p.name.empty() ? 0 : static_cast<std::uint32_t>(names.size()));
    if (!p.name.empty()) names.append(p.name).push_back('\0');
  }
  parts_.back().header.size = names.size();
  std::uint64_t at = sizeof(Elf64_Ehdr);  // the larger one
  for (part& p : parts_) {
    p.header.offset = p.header.type == SHT_NULL ? 0 : at;
    at = aligned(at + p.header.size);
  }
  size_ = static_cast<std::size_t>(at + parts_.size() * section_record_size(abi_));
  // The space between the sections is never written: a large section that is not filled costs no memory.
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  write_file_header(type, at);
  write_section_headers(at, name_offsets);
  const auto into = contents(parts_.size() - 1);
  std::transform(names.begin(), names.end(), into.begin(), [](char c) { return static_cast<std::byte>(c); });
}

std::span<std::byte> memory_elf::contents(std::size_t number) {
  const section& s = parts_[number].header;
  return bytes().subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.size));
}

void memory_elf::write_file_header(std::uint16_t type, std::uint64_t table) {
  const bool is_64 = abi_.pointer_size == 8;
  const std::size_t header_size = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  const auto header = bytes().first(sizeof(Elf64_Ehdr));
  std::fill(header.begin(), header.end(), std::byte{0});
  field_writer ident{header, abi_};
  ident.byte(ELFMAG0).byte(ELFMAG1).byte(ELFMAG2).byte(ELFMAG3).byte(is_64 ? ELFCLASS64 : ELFCLASS32);
  ident.byte(abi_.order == byte_order::big ? ELFDATA2MSB : ELFDATA2LSB).byte(EV_CURRENT);
  field_writer fields{header.subspan(EI_NIDENT), abi_};
  fields.half(type).half(abi_.elf_machine).word(EV_CURRENT).wide(0).wide(0).wide(table).word(0);
  fields.half(header_size).half(0).half(0).half(section_record_size(abi_));
  // Numbers that do not fit into the ELF header are in the first section header.
  const bool fits = parts_.size() < SHN_LORESERVE;
  fields.half(fits ? parts_.size() : 0).half(fits ? parts_.size() - 1 : SHN_XINDEX);
}

void memory_elf::write_section_headers(std::uint64_t table, std::span<const std::uint32_t> names) {
  const std::size_t record = section_record_size(abi_);
  const bool fits = parts_.size() < SHN_LORESERVE;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const section& s = parts_[i].header;
    const std::uint64_t size = i == 0 && !fits ? parts_.size() : s.size;
    const std::uint64_t link = i == 0 && !fits ? parts_.size() - 1 : s.link;
    field_writer fields{bytes().subspan(static_cast<std::size_t>(table) + i * record, record), abi_};
    fields.word(names[i]).word(s.type).wide(s.flags).wide(s.address).wide(s.offset).wide(size);
    fields.word(link).word(s.info).wide(1).wide(s.entry_size);
  }
}

}  // namespace mpiacq::elf
