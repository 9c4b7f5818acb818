// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "starter/find_starter.hpp"

namespace mpiacq {

/// The starter of the MPI2DD job that `named` belongs to: itself where it is one; else the one that its job's tables
/// lead to. A job whose starter stands in no table is seen from `named` itself. Empty where `named` has nothing to do
/// with MPI2DD, and where it cannot be looked at: the attach says why. Nothing is stopped. Errors: those of a walk.
[[nodiscard]] result<std::optional<found_starter>> find_mpi2dd_starter(process_id named,
                                                                       const debug_file_search& search);
/// The one that a wrapper has started, looked for among all processes of this node.
[[nodiscard]] std::optional<found_starter> mpi2dd_starter_below(process_id wrapper, const debug_file_search& search);

/// Why it was not found, for who asked for nothing else.
[[nodiscard]] error no_mpi2dd(process_id named, const debug_file_search& search);

}  // namespace mpiacq
