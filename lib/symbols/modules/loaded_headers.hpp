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

/// What the first page of a loaded module says of the file that it was loaded from: enough to know that file again.
struct loaded_headers {
  std::optional<file_header> header;  ///< empty: there is no such page, or no ELF header in it
  std::vector<segment> segments;      ///< empty where they do not all stand in that page
  std::vector<std::byte> build_id;    ///< empty where its note does not stand there, where linkers put it
};

/// From at most a page of bytes. Headers of another ABI count as none.
[[nodiscard]] loaded_headers headers_in(std::span<const std::byte> page, const target_abi& abi);

enum class sameness : std::uint8_t { same, different, unknown };

/// Whether a module was loaded from this file: by their build ids, or, where one of them has none, by their program
/// headers, which no tool changes that only strips. Unknown: the module has neither in its memory.
[[nodiscard]] sameness compare(const loaded_headers& loaded, image& file);

}  // namespace mpiacq::elf
