// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the arguments of one MPI call mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "calls/mpi_function.hpp"
#include "calls/mpi_parameters.hpp"
#include "handles/handle_meaning.hpp"

namespace mpiacq {

/// What was found out about one parameter.
struct found_argument {
  std::uint64_t value = 0;  ///< bits beyond the parameter's size do not count
  bool is_known = false;
};

/// How many bytes to read at the passed address to get a parameter's value. 0: what was passed is the value itself.
/// Arrays, buffers and results are not read: their value is their address.
[[nodiscard]] std::size_t bytes_behind(const mpi_parameter& parameter, const mpi_function& function,
                                       const handle_context& context);

/// One argument with its meaning.
struct call_argument {
  mpi_role role = mpi_role::number;
  bool is_known = false;
  bool is_address = false;  ///< of a buffer, a text or an array: the value says where it is
  std::int64_t value = 0;   ///< a number; or the bits of a handle or an address
  std::string name;         ///< of a special number or a predefined handle: "MPI_ANY_TAG", "MPI_COMM_WORLD"

  friend bool operator==(const call_argument&, const call_argument&) = default;
};

/// An MPI call with its arguments in C's order. Places for results are left out.
struct call_description {
  std::string function;  ///< "MPI_Recv", whatever the language and profiling layer
  mpi_call_kind kind = mpi_call_kind::other;
  std::vector<call_argument> arguments;

  friend bool operator==(const call_description&, const call_description&) = default;
};

/// Describes a call. `found` has one value for each parameter in C's order, as bytes_behind describes; missing ones are
/// not known. A value that the parameter cannot have (a negative count, a handle of another kind) is not known either.
[[nodiscard]] call_description describe_call(const mpi_function& function, std::span<const found_argument> found,
                                             const handle_context& context);

/// The call with what it waits for: "MPI_Recv(source 0, tag any, MPI_COMM_WORLD)". '?' stands for a rank or a tag that
/// is not known; other arguments that are not known are left out. The function alone if none is known.
[[nodiscard]] std::string text_of(const call_description& call);

}  // namespace mpiacq
