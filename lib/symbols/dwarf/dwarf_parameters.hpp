// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dwarf/dwarf_data.hpp"
#include "mpiacq/process/call_description.hpp"

namespace mpiacq::debug_info {

/// The largest number of parameters of a function. A function with more is not described.
inline constexpr std::size_t most_parameters = 64;

/// Where the parameters of a function are at a link-time address of its code. Empty: one of them is neither an integer
/// nor a pointer, or the function has only some of the parameters of its source. Errors: bad_format, limit.
[[nodiscard]] result<std::optional<parameter_places>> parameters_at(const dwarf_data& data, const Dwarf_Die& function,
                                                                    std::uint64_t address);

}  // namespace mpiacq::debug_info
