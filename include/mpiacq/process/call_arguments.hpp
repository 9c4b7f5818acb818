// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The arguments of a call that a stopped thread has made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mpiacq {

/// How the value of an argument was found.
enum class argument_source : std::uint8_t {
  unknown,           ///< it was not found
  instructions,      ///< from the instructions in front of the call, registers and memory
  call_site,         ///< from the description of the call in the program's debug information; instructions agree, or
                     ///< do not show the value
  debug_information  ///< from the called function's own frame, by its debug information: the value of the parameter now
};

/// "unknown", "instructions", "call-site" or "debug-information".
[[nodiscard]] std::string_view name(argument_source source);

/// One integer or pointer that a call passes.
struct call_argument {
  std::uint64_t value = 0;  ///< 0 if the source is `unknown`
  argument_source source = argument_source::unknown;
  /// The number of low bits of `value` that the caller has set. A parameter may have fewer bits: cut `value` to the
  /// size of the parameter's type.
  std::uint8_t bits = 64;
  /// The value, or a part of it, was read from memory of the stopped process. It is right if nobody has changed this
  /// memory since the call.
  bool from_memory = false;
  /// Whether the value was found.
  [[nodiscard]] bool is_known() const { return source != argument_source::unknown; }
  friend bool operator==(const call_argument&, const call_argument&) = default;
};

/// The integer arguments of one call, in order: those in general registers, then those on the stack. Parameters of
/// floating-point types are passed elsewhere and do not count.
struct call_arguments {
  std::vector<call_argument> arguments;
  std::string why;  ///< one clause if no argument is known for one reason; else empty
};

}  // namespace mpiacq
