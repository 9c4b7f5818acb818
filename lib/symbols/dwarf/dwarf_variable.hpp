// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "elf/elf_image.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// The type of `variable` by the DWARF in this one file. Empty if the file has no DWARF, or no entry for this variable.
/// The caller fills in `source` and the path. Errors as `read_layout`.
[[nodiscard]] result<std::optional<variable_type>> read_type(elf::image& file, const symbol& variable,
                                                             const symbol* near, const debug_file_search& search,
                                                             std::span<const std::string> roots);

}  // namespace mpiacq::debug_info
