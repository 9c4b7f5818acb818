// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The handles that MPI defines: MPI_COMM_WORLD, MPI_INT, MPI_SUM, MPI_REQUEST_NULL.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mpiacq {

enum class mpi_handle_kind : std::uint8_t {
  communicator,
  group,
  datatype,
  operation,
  request,
  message,
  window,
  file,
  info,
  session,
  error_handler,
};

/// A predefined handle as each ABI writes it. `none` where an ABI has no such handle.
struct predefined_handle {
  static constexpr std::int64_t none = -1;
  static constexpr std::uint8_t address_size = 255;  ///< as many bytes as an address

  mpi_handle_kind kind;
  std::string_view name;
  std::int64_t mpich;        ///< C and Fortran
  std::int64_t standard;     ///< C and Fortran
  std::string_view openmpi;  ///< C: the symbol of the object; empty for none
  std::int64_t openmpi_fortran;
  std::uint8_t bytes;  ///< of one element, for a datatype; 0 if it depends on the compiler
};

[[nodiscard]] std::span<const predefined_handle> predefined_handles();

}  // namespace mpiacq
