// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How far MPI is in a process.
#pragma once

#include <cstdint>
#include <string_view>

namespace mpiacq {

/// How far MPI was in a rank.
enum class mpi_phase : std::uint8_t {
  unknown,      ///< the process does not show it
  not_started,  ///< MPI_Init was not called, or the program uses no MPI
  running,      ///< MPI_Init was called, and MPI_Finalize has not returned
  finalized,    ///< MPI_Finalize has returned
};
/// "unknown", "not-started", "running", "finalized"
[[nodiscard]] std::string_view name(mpi_phase phase);

}  // namespace mpiacq
