// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dwarf/dwarf_data.hpp"
#include "mpiacq/process/call_description.hpp"

namespace mpiacq::debug_info {

/// The largest number of parameters and of bytes of one expression that are read. Compilers write fewer.
inline constexpr std::size_t most_site_parameters = 64;
inline constexpr std::size_t largest_site_expression = 128;

/// The call in a function that returns to a link-time address. Empty if the function describes no such call, or more
/// than one. Errors: bad_format, limit.
[[nodiscard]] result<std::optional<call_description>> call_site_in(const dwarf_data& data, const Dwarf_Die& function,
                                                                   std::uint64_t return_address);

}  // namespace mpiacq::debug_info
