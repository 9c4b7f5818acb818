// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Layouts of types that this library contains, as text that scripts/make-openmpi-layouts writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::carriers {

/// The types of one release of an MPI.
struct release_layouts {
  std::string mpi;      ///< see recipe::name
  std::string version;  ///< "4.1.4"
  std::string machine;  ///< "x86_64"
  std::vector<structure_layout> types;
};

/// The first line is "MPI VERSION MACHINE". A line "struct NAME SIZE" begins a type, and each line "NAME OFFSET SIZE
/// MARK" after it is a member, where MARK is p for a pointer, s for a signed integer, - for anything else. Errors:
/// bad_format (the message has the line).
[[nodiscard]] result<release_layouts> parse_layouts(std::string_view text);

/// The built-in texts.
[[nodiscard]] std::span<const std::string_view> built_in_layouts();

}  // namespace mpiacq::carriers
