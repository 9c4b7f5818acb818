// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::check {

/// The instruction directly before an address that could be a return address.
struct call_site {
  enum class kind : std::uint8_t { none, known, unknown };
  kind what = kind::none;  ///< no call; a call with a known target; a call through a register
  target_address target;   ///< known: the function called, past the linkage table's stub where there is one
};

/// Decodes the instruction before `return_address` for the target's own machine (x86-64, i386, aarch64). Empty for
/// other machines.
[[nodiscard]] std::optional<call_site> call_before(memory_reader& memory, const target_abi& abi,
                                                   target_address return_address);

}  // namespace mpiacq::check
