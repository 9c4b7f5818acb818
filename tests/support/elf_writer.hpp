// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <elf.h>

#include "byte_writer.hpp"

namespace mpiacq::test {

/// One of each width and byte order.
inline const target_abi elf_abis[] = {
    abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64), abi_of_elf(ELFCLASS32, ELFDATA2LSB, EM_386),
    abi_of_elf(ELFCLASS32, ELFDATA2MSB, EM_PPC), abi_of_elf(ELFCLASS64, ELFDATA2MSB, EM_S390)};

struct written_section {
  std::string name;
  unsigned type = SHT_PROGBITS;
  std::vector<std::byte> contents;
  std::uint64_t flags = 0;
  std::uint64_t claims = 0;  ///< the size in its header, if it differs from that of its contents
  unsigned link = 0;
  std::uint64_t entry_size = 0;
};

/// Builds a shared library of any class and byte order from sections. One PT_LOAD maps the whole file at address 0, so
/// that a section's address equals its file offset. PT_DYNAMIC is the section of that name.
class elf_writer {
 public:
  explicit elf_writer(const target_abi& abi) : abi_(abi), out_(abi) {
    const bool is_64 = abi.pointer_size == 8;
    next_ = is_64 ? sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) : sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Phdr);
  }

  /// The address of the next section of this size.
  [[nodiscard]] std::uint64_t next_address() const { return next_; }

  void add(written_section section) {
    next_ = (next_ + section.contents.size() + 15) & ~std::uint64_t{15};
    sections_.push_back(std::move(section));
  }

  /// Adds `.dynsym` with one variable of the size of a pointer, `.hash` before it, and `.dynamic` behind.
  void add_dynamic_variable(const std::string& name, std::uint64_t address) {
    const std::uint64_t hash_at = next_address();
    const std::size_t word = abi_.elf_machine == EM_S390 ? 8 : 4;
    byte_writer hash{abi_};  // one bucket with a chain of both symbols
    hash.number(1, word).number(2, word).number(1, word).number(0, word).number(0, word);
    add({".hash", SHT_HASH, hash.take()});
    const std::uint64_t symbols_at = next_address();
    byte_writer symbols{abi_};
    symbols.symbol(0, 0, 0, 0, 0).symbol(1, address, abi_.pointer_size, 1U << 4 | STT_OBJECT, 1);
    add({".dynsym", SHT_DYNSYM, symbols.take()});
    const std::uint64_t strings_at = next_address();
    byte_writer strings{abi_};
    strings.text("").text(name);
    const std::size_t strings_size = strings.size();
    add({".dynstr", SHT_STRTAB, strings.take()});
    byte_writer dynamic{abi_};
    dynamic.wide(DT_HASH).wide(hash_at).wide(DT_SYMTAB).wide(symbols_at).wide(DT_STRTAB).wide(strings_at);
    dynamic.wide(DT_STRSZ).wide(strings_size).wide(DT_SYMENT).wide(abi_.pointer_size == 8 ? 24 : 16);
    dynamic.wide(DT_NULL).wide(0);
    add({".dynamic", SHT_DYNAMIC, dynamic.take()});
  }

  /// Sets the size in the header of the section with the section names.
  void claim_names(std::uint64_t size) { names_claim_ = size; }

  void write_to(const std::string& path) {
    std::string names(1, '\0');
    std::vector<std::size_t> name_offsets;
    sections_.push_back({".shstrtab", SHT_STRTAB, {}});
    sections_.back().claims = names_claim_;
    for (const written_section& s : sections_) {
      name_offsets.push_back(names.size());
      names += s.name + '\0';
    }
    for (const char c : names) sections_.back().contents.push_back(static_cast<std::byte>(c));
    const std::vector<std::uint64_t> places = place_sections();
    write_header();
    write_segments(places);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      out_.pad_to(places[i]);
      for (const std::byte b : sections_[i].contents) out_.byte(std::to_integer<unsigned>(b));
    }
    out_.pad_to(section_table_);
    write_section({}, 0, 0);
    for (std::size_t i = 0; i < sections_.size(); ++i) write_section(sections_[i], name_offsets[i], places[i]);
    const auto bytes = out_.take();
    std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::vector<std::uint64_t> place_sections() {
    std::vector<std::uint64_t> places;
    std::uint64_t at = abi_.pointer_size == 8 ? sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)
                                              : sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Phdr);
    for (const written_section& s : sections_) {
      places.push_back(at);
      at = (at + s.contents.size() + 15) & ~std::uint64_t{15};
    }
    section_table_ = at;
    return places;
  }

  void write_header() {
    const bool is_64 = abi_.pointer_size == 8;
    out_.byte(0x7f).byte('E').byte('L').byte('F').byte(is_64 ? 2 : 1).byte(abi_.order == byte_order::big ? 2 : 1);
    out_.byte(1).pad_to(16).half(ET_DYN).half(abi_.elf_machine).word(1).wide(0);
    out_.wide(is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)).wide(section_table_).word(0);
    out_.half(is_64 ? 64 : 52).half(is_64 ? 56 : 32).half(2).half(is_64 ? 64 : 40);
    out_.half(sections_.size() + 1).half(sections_.size());
  }

  void write_segments(const std::vector<std::uint64_t>& places) {
    write_segment(PT_LOAD, 0, section_table_);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].name == ".dynamic") {
        write_segment(PT_DYNAMIC, places[i], sections_[i].contents.size());
        return;
      }
    }
    write_segment(PT_NULL, 0, 0);
  }

  void write_segment(unsigned type, std::uint64_t at, std::uint64_t size) {
    const bool is_64 = abi_.pointer_size == 8;
    out_.word(type);
    if (is_64) out_.word(4);
    out_.wide(at).wide(at).wide(at).wide(size).wide(size);
    if (!is_64) out_.word(4);
    out_.wide(16);
  }

  void write_section(const written_section& s, std::uint64_t name, std::uint64_t at) {
    out_.word(name).word(s.name.empty() ? SHT_NULL : s.type).wide(s.flags).wide(0).wide(at);
    out_.wide(s.claims != 0 ? s.claims : s.contents.size()).word(s.link).word(0).wide(1).wide(s.entry_size);
  }

  target_abi abi_;
  byte_writer out_;
  std::vector<written_section> sections_;
  std::uint64_t next_ = 0;
  std::uint64_t names_claim_ = 0;
  std::uint64_t section_table_ = 0;
};

}  // namespace mpiacq::test
