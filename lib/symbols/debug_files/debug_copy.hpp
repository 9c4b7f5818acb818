// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "dwarf/dwarf_allowance.hpp"
#include "elf/elf_image.hpp"
#include "elf/memory_elf.hpp"

namespace mpiacq::debug_info {

/// Whether the places of variables (.debug_loc, .debug_loclists) are copied, too. Few questions are about them, so they
/// are read only for those.
enum class with_locations : bool { no, yes };

/// A copy in memory of those sections of a file that the readers of DWARF need, for libdw, inflated if they are
/// compressed. The sizes that compressed sections claim are checked first, and taken from the allowance as the copy's
/// own size is.
///
/// Empty if the sections are too large to be copied and none is compressed: such a file can be mapped instead.
/// Errors: limit (claims beyond the allowance, or beyond what compression achieves; a sparse file), bad_format, system.
[[nodiscard]] result<std::optional<elf::memory_elf>> copy_debug_sections(elf::image& file, dwarf_allowance& allowance,
                                                                         with_locations locations);

/// The contents of one section, inflated if it is compressed, with the same checks. The bytes are taken from the
/// allowance. Errors: as above.
[[nodiscard]] result<std::vector<std::byte>> read_debug_section(elf::image& file, const elf::section& s,
                                                                dwarf_allowance& allowance);

}  // namespace mpiacq::debug_info
