// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "elf/elf_image.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// The structure that `variable` points to (or is an array of), by the DWARF (versions 2 to 5) in this one file. Empty
/// if the file has no DWARF, or no entry for this variable. The caller fills in `source` and the paths. `search` and
/// `roots` are for the file that it may share with others. Errors: not_found (the shared file), bad_format (the DWARF
/// contradicts itself, or the variable points to no structure).
[[nodiscard]] result<std::optional<structure_layout>> read_layout(elf::image& file, const symbol& variable,
                                                                  const symbol* near, const debug_file_search& search,
                                                                  std::span<const std::string> roots);

/// The structure with this tag, in any unit; empty if no unit defines it. The other arguments and errors as above,
/// without `near`.
[[nodiscard]] result<std::optional<structure_layout>> read_structure(elf::image& file, const symbol& tag,
                                                                     const symbol* near,
                                                                     const debug_file_search& search,
                                                                     std::span<const std::string> roots);

}  // namespace mpiacq::debug_info
