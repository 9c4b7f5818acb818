// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "proc/known_processes.hpp"
#include "starter/find_starter.hpp"

namespace mpiacq {

/// The starter of the MPI2DD job that `named` belongs to: `named` itself, or the starter that the tables of its job
/// lead to. A job whose starter is in no table is seen from `named` itself. Empty if `named` has no MPI2DD interface,
/// or if it cannot be read: the attach says why. Nothing is stopped. Errors: those of a walk.
[[nodiscard]] result<std::optional<found_starter>> find_mpi2dd_starter(known_processes& all,
                                                                       const process_pointer& named,
                                                                       const debug_file_search& search);
/// The starter that a wrapper has started, looked for among all processes of this node.
[[nodiscard]] std::optional<found_starter> mpi2dd_starter_below(known_processes& all, const process_facts& wrapper,
                                                                const debug_file_search& search);

/// Why it was not found, for a caller that asked for MPI2DD alone.
[[nodiscard]] error no_mpi2dd(const process_facts& named, const debug_file_search& search);

}  // namespace mpiacq
