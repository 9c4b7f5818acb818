// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "debug_files/compressed_sections.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>
#include <libdeflate.h>

namespace mpiacq::debug_info {

namespace {

constexpr std::string_view old_name = ".zdebug_";
constexpr std::string_view old_magic = "ZLIB";
constexpr std::size_t old_header = 12;  // the magic, and the inflated size with its first byte first

using decompressor = std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;

bool inflate(libdeflate_decompressor& with, std::span<const std::byte> stream, std::span<std::byte> into) {
  // Without a place for its length, the result has to fill `into`.
  return libdeflate_zlib_decompress(&with, stream.data(), stream.size(), into.data(), into.size(), nullptr) ==
         LIBDEFLATE_SUCCESS;
}

elf::memory_elf::part inflated_part(elf::memory_elf::part section, std::uint64_t size) {
  if (section.name.starts_with(old_name)) section.name.erase(1, 1);
  section.header.flags &= ~std::uint64_t{SHF_COMPRESSED};
  section.header.size = size;
  return section;
}

/// The parts of a file as its constructor takes them: without the names of the sections, which it adds.
std::vector<elf::memory_elf::part> parts_of(const elf::memory_elf& file) {
  return {file.parts().begin(), file.parts().end() - 1};
}

}  // namespace

std::optional<section_compression> compression_of(const elf::memory_elf::part& section,
                                                  std::span<const std::byte> contents, const target_abi& abi) {
  if ((section.header.flags & SHF_COMPRESSED) != 0) {
    const bool is_64 = abi.pointer_size == 8;
    const std::size_t header = is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (contents.size() < header) return section_compression{};
    const bool is_zlib = decode_unsigned(contents.first(4), abi.order) == ELFCOMPRESS_ZLIB;
    const auto size = is_64 ? contents.subspan(8, 8) : contents.subspan(4, 4);
    return section_compression{is_zlib, decode_unsigned(size, abi.order), contents.subspan(header)};
  }
  if (!section.name.starts_with(old_name)) return std::nullopt;
  const bool is_zlib =
      contents.size() >= old_header && std::equal(old_magic.begin(), old_magic.end(), contents.begin(),
                                                  [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
  if (!is_zlib) return section_compression{};
  return section_compression{true, decode_unsigned(contents.subspan(4, 8), byte_order::big),
                             contents.subspan(old_header)};
}

elf::memory_elf inflate_sections(elf::memory_elf file, const target_abi& abi, std::uint16_t type) {
  const decompressor with{libdeflate_alloc_decompressor(), &libdeflate_free_decompressor};
  if (!with) return file;
  auto parts = parts_of(file);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto how = compression_of(parts[i], file.contents(i), abi);
    if (how && how->is_zlib) parts[i] = inflated_part(std::move(parts[i]), how->inflated);
  }
  elf::memory_elf made{abi, type, parts};
  bool is_whole = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto from = file.contents(i);
    const auto how = compression_of(file.parts()[i], from, abi);
    if (!how || !how->is_zlib) {
      std::copy(from.begin(), from.end(), made.contents(i).begin());
    } else if (!inflate(*with, how->deflated, made.contents(i))) {
      is_whole = false;
    }
  }
  return is_whole ? std::move(made) : std::move(file);
}

}  // namespace mpiacq::debug_info
