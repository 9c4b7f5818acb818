// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Types by name.
#pragma once

#include <optional>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// The language of a name (`lang` in the message queue interface): Fortran compilers change the names of symbols.
enum class source_language : std::uint8_t { c, fortran };

/// Answers types by name: of everything that a process has loaded, or of a file of types.
///
/// Thread: one at a time.
class type_source {
 public:
  virtual ~type_source() = default;

  /// The type of this name: the name of a typedef, a tag, or "struct x" ("union", "enum" likewise). For a structure the
  /// answer has its members, including those of anonymous structures inside; for an enumeration its
  /// enumerators; for any other type only its size. A declaration is no definition. If modules define different types
  /// of one name, the first module in the order of the dynamic linker counts. `source`, `module_path` and `debug_file`
  /// of the answer say where it comes from. Empty if the type is not known.
  [[nodiscard]] virtual result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                           source_language language) = 0;
};

}  // namespace mpiacq
