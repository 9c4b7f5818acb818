// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "elf/elf_image.hpp"

namespace mpiacq::debug_info {

/// The symbol table in a file's `.gnu_debugdata` (MiniDebugInfo): an ELF file, packed with xz, that names the functions
/// that the dynamic symbol table lacks. Red Hat's and SUSE's stripped programs and libraries have one. It is unpacked
/// into memory, which no file on the disk stands for.
///
/// Null where the file has none. Errors: bad_format, limit (more than `most_unpacked`), system.
[[nodiscard]] result<std::shared_ptr<elf::image>> open_mini_debug_info(elf::image& file);

/// Packed as it stands in the file, and unpacked: the largest libraries' have a few megabytes.
inline constexpr std::uint64_t most_packed = std::uint64_t{16} << 20;
inline constexpr std::uint64_t most_unpacked = std::uint64_t{64} << 20;

}  // namespace mpiacq::debug_info
