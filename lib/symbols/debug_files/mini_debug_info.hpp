// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "elf/elf_image.hpp"

namespace mpiacq::debug_info {

/// The symbol table in a file's `.gnu_debugdata` (MiniDebugInfo): an ELF file, packed with xz, with names of functions
/// that the dynamic symbol table lacks. Stripped programs and libraries of Red Hat and SUSE have one. It is unpacked
/// into memory without a file on the disk.
///
/// Null if the file has none. Errors: bad_format, limit (more than `most_unpacked`), system.
[[nodiscard]] result<std::shared_ptr<elf::image>> open_mini_debug_info(elf::image& file);

/// The limits on the packed and the unpacked size: those of the largest libraries have a few megabytes.
inline constexpr std::uint64_t most_packed = std::uint64_t{16} << 20;
inline constexpr std::uint64_t most_unpacked = std::uint64_t{64} << 20;

}  // namespace mpiacq::debug_info
