// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/dynamic_symbols.hpp"
#include "elf/elf_image.hpp"

namespace mpiacq::elf {

/// The definitions of `names` in a file's `.symtab`, including local symbols; global symbols are preferred. All are
/// empty if the file has no `.symtab`. One pass over the table finds all names. Errors: bad_format, system.
[[nodiscard]] result<std::vector<std::optional<definition>>> find_in_symbol_table(
    image& file, std::span<const std::string_view> names);

}  // namespace mpiacq::elf
