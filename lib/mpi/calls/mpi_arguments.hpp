// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the arguments of one MPI call mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calls/mpi_function.hpp"
#include "calls/mpi_parameters.hpp"
#include "handles/handle_meaning.hpp"

namespace mpiacq {

/// What was found out about one parameter.
struct found_argument {
  std::uint64_t value = 0;  ///< bits beyond the parameter's size do not count
  bool is_known = false;
  /// The number of low bits of `value` that are known. A parameter with more bits is not known.
  std::uint8_t bits = 64;
  argument_source source = argument_source::unknown;
};

/// How many bytes to read at the passed address to get a parameter's value. 0: what was passed is the value itself.
/// Arrays, buffers and results are not read: their value is their address.
[[nodiscard]] std::size_t bytes_behind(const mpi_parameter& parameter, const mpi_function& function,
                                       const handle_context& context);

/// The arguments of a call in C's order, without places for results. `found` has one value for each parameter in C's
/// order, as bytes_behind describes; missing ones are not known. A value that the parameter cannot have (a negative
/// count, a handle of another kind) is not known either. Empty for a function without a row.
[[nodiscard]] std::vector<mpi_argument> explain_arguments(const mpi_function& function,
                                                          std::span<const found_argument> found,
                                                          const handle_context& context);

}  // namespace mpiacq
