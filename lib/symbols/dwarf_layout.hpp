// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "elf_image.hpp"
#include "mpiacq/symbols.hpp"

namespace mpiacq::debug_info {

/// The structure that `variable` points to (or is an array of), by the DWARF (versions 2 to 5) in this one file. Empty
/// where the file has none, or none for this variable. `source` and the paths are the caller's to fill in.
/// Errors: bad_format (the DWARF contradicts itself, or the variable points to no structure).
[[nodiscard]] result<std::optional<structure_layout>> read_layout(elf::image& file, const symbol& variable,
                                                                  const symbol* near);

}  // namespace mpiacq::debug_info
