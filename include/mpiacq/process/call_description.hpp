// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// What the debug information of a program says about one of its calls (DWARF 5, 3.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// The description of one call (DW_TAG_call_site, or DW_TAG_GNU_call_site before DWARF 5). Its expressions are the
/// bytes of the file: whoever evaluates them must check them. Addresses in them are link-time addresses.
struct call_description {
  /// One value that the call passes (DW_TAG_call_site_parameter).
  struct parameter {
    std::vector<std::byte> place;  ///< DW_AT_location: an expression that names a register, or a place on the stack
    std::vector<std::byte> value;  ///< DW_AT_call_value: an expression that is evaluated in the caller's frame
  };
  std::vector<parameter> parameters;
  /// Whether GCC has written the description (DW_AT_producer). The descriptions of other compilers may name
  /// registers that no longer have the value.
  bool by_gcc = false;
  std::vector<std::byte> frame_base;  ///< DW_AT_frame_base of the calling function; empty if it has none
};

/// Finds the description of the call that returns to an address of a process; empty if there is none.
using find_call_description = std::function<std::optional<call_description>(target_address return_address)>;

}  // namespace mpiacq
