// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// In whose words a name is (the `lang` of the message-queue interface): Fortran compilers change the names of symbols.
enum class source_language : std::uint8_t { c, fortran };

/// Types by name, across all that a process has loaded or a file of types holds.
///
/// Thread: one at a time.
class type_source {
 public:
  virtual ~type_source() = default;

  /// The type that the source calls so: a typedef's name, a bare tag, or "struct x" ("union", "enum" likewise). For a
  /// structure its members, also those of anonymous structures in it; for anything else its size alone. A declaration
  /// is no definition. Where modules define different types of one name, the first in the dynamic linker's order wins.
  /// `source`, `module_path` and `debug_file` of the answer say where it comes from. Empty where nobody knows it.
  [[nodiscard]] virtual result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                           source_language language) = 0;
};

}  // namespace mpiacq
