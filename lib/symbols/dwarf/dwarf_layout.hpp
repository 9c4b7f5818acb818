// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "elf/elf_image.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// The structure that `variable` points to (or is an array of), by the DWARF (versions 2 to 5) in this one file. Empty
/// where the file has none, or none for this variable. `source` and the paths are the caller's to fill in.
/// `search` and `roots` are for the file that it may share with others. Errors: not_found (that one), bad_format (the
/// DWARF contradicts itself, or the variable points to no structure).
[[nodiscard]] result<std::optional<structure_layout>> read_layout(elf::image& file, const symbol& variable,
                                                                  const symbol* near, const debug_file_search& search,
                                                                  std::span<const std::string> roots);

/// The structure of the tag that `tag` is called, whichever unit defines it; empty where none does. The other arguments
/// and errors as above; there is no use for `near`.
[[nodiscard]] result<std::optional<structure_layout>> read_structure(elf::image& file, const symbol& tag,
                                                                     const symbol* near,
                                                                     const debug_file_search& search,
                                                                     std::span<const std::string> roots);

}  // namespace mpiacq::debug_info
