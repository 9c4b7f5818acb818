// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// What debug information says about one call of a program (DWARF 5, 3.4), and about a called function (3.3).
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

/// Where the parameters of a function are at one place of its code (DW_TAG_formal_parameter, in their order). Their
/// values are those of the variables now: the function may have changed them.
struct parameter_places {
  /// The place of one parameter.
  struct parameter {
    /// Where it is. `unknown` also stands for places that need a computation, and for values that are nowhere.
    enum class place : std::uint8_t { unknown, in_register, in_memory, constant };
    place is = place::unknown;
    /// in_register, in_memory: a register by its DWARF number; empty: DWARF's frame address (DW_OP_call_frame_cfa).
    std::optional<std::uint64_t> base = {};
    std::int64_t number = 0;  ///< in_memory: added to `base`; constant: the value
    std::uint8_t bytes = 0;   ///< the size of its type: 1, 2, 4 or 8
  };
  std::vector<parameter> parameters;
  /// As `call_description::by_gcc`.
  bool by_gcc = false;
};

/// Finds the places of the parameters of the function whose code has an address; empty if they are not described, or if
/// a parameter is passed in another way than integers and pointers.
using find_parameter_places = std::function<std::optional<parameter_places>(target_address pc)>;

}  // namespace mpiacq
