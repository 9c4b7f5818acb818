// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The entries of a function and of what is within it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "dwarf/dwarf_data.hpp"

namespace mpiacq::debug_info {

/// The largest depth of entries with code: namespaces, classes, functions, blocks, inlined calls.
inline constexpr std::size_t deepest_entry = 512;

/// Where a walk continues after an entry.
enum class walk_step : std::uint8_t { into, over, stop };

/// Visits the entries below one entry in the order of the file, without recursion. Errors: bad_format, limit, those of
/// `visit`.
[[nodiscard]] result<void> walk_below(const dwarf_data& data, const Dwarf_Die& top,
                                      const std::function<result<walk_step>(Dwarf_Die&)>& visit);

/// Whether an entry with this tag is a part of the function around it.
[[nodiscard]] bool is_block(int tag);

}  // namespace mpiacq::debug_info
