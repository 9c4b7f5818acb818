// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "elf/elf_image.hpp"
#include "elf/elf_records.hpp"

namespace mpiacq::elf {

/// The headers of a module's file as its first loaded page shows them. They identify the file.
struct loaded_headers {
  std::optional<file_header> header;  ///< empty: the page is missing or has no ELF header
  std::vector<segment> segments;      ///< empty if they are not all in that page
  std::vector<std::byte> build_id;    ///< empty if its note is not in that page, where linkers put it
};

/// Decodes at most a page of bytes. Headers of another ABI are ignored.
[[nodiscard]] loaded_headers headers_in(std::span<const std::byte> page, const target_abi& abi);

enum class sameness : std::uint8_t { same, different, unknown };

/// Whether a module was loaded from this file. The build ids decide, or, if one of them is missing, the program
/// headers, which stripping does not change. Unknown: the module has neither in its memory.
[[nodiscard]] sameness compare(const loaded_headers& loaded, image& file);

}  // namespace mpiacq::elf
