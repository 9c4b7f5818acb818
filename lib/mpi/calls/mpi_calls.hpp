// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The MPI functions that can wait for other ranks or that tell how far a rank has come, up to MPI 5.0.
#pragma once

#include <span>
#include <string_view>

#include "mpiacq/queues/mpi_call.hpp"

namespace mpiacq {

/// One MPI function. The function with "_c" at the end of its name (MPI_Send_c) has the same row: its counts are wider.
struct mpi_call {
  std::string_view name;  ///< without "MPI_", as in C: "Recv"
  mpi_call_kind kind = mpi_call_kind::other;
  std::string_view parameters;  ///< one word for each in C's order; mpi_parameters.hpp says what a word means
};

/// All rows, sorted by name.
[[nodiscard]] std::span<const mpi_call> mpi_calls();
/// The row with this name ("Recv"), or null.
[[nodiscard]] const mpi_call* mpi_call_named(std::string_view name);

}  // namespace mpiacq
