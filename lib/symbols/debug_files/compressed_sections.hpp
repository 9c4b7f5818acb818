// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "elf/memory_elf.hpp"

namespace mpiacq::debug_info {

/// What is known of a compressed section before it is inflated: one with SHF_COMPRESSED ("Compressed Sections" of the
/// System V gABI), or ".zdebug_NAME" of GNU tools before 2015.
struct section_compression {
  bool is_zlib = false;                 ///< false: another compression, or a header that makes no sense
  std::uint64_t inflated = 0;           ///< so many bytes, the header claims
  std::span<const std::byte> deflated;  ///< a zlib stream (RFC 1950), if `is_zlib`; inside of the contents
};

/// Empty: the section is not compressed.
[[nodiscard]] std::optional<section_compression> compression_of(const elf::memory_elf::part& section,
                                                                std::span<const std::byte> contents,
                                                                const target_abi& abi);

/// The same file with its zlib sections inflated, into as much memory as their headers claim: check that before. If a
/// section does not inflate to exactly its claim, the file stays as it is, and so does a section of another
/// compression: libelf says what is wrong with them. libdeflate inflates three times as fast as libelf's zlib.
[[nodiscard]] elf::memory_elf inflate_sections(elf::memory_elf file, const target_abi& abi, std::uint16_t type);

}  // namespace mpiacq::debug_info
