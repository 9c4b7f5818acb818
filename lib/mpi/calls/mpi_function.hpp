// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The names of MPI functions on stacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "calls/mpi_calls.hpp"
#include "handles/mpi_abi.hpp"

namespace mpiacq {

/// An MPI function, whatever its language and profiling layer.
struct mpi_function {
  std::string name;                ///< without "MPI_", as in C: "Recv", "Send_c"
  const mpi_call* call = nullptr;  ///< its row; null for a function that is not in the table
  mpi_language language = mpi_language::c;
  bool has_wide_counts = false;  ///< its counts are 64 bits wide: MPI_Send_c
};

/// The MPI function that a stack names: "PMPI_Recv", "mpi_recv_", "MPI_Recv@plt", "mpi_recv_f08ts_". None for a
/// function that does not belong to MPI, such as a program's own mpi_setup().
[[nodiscard]] std::optional<mpi_function> mpi_function_named(std::string_view function);

/// The MPI function that a frame in `function` of the module `module_path` stands for; else `function`. MPICH's
/// MPI_Waitany and similar functions may end with a jump to internal_Waitany, which has the same parameters, so that no
/// frame shows MPI_Waitany itself.
[[nodiscard]] std::string called_function_name(std::string_view function, std::string_view module_path);

}  // namespace mpiacq
