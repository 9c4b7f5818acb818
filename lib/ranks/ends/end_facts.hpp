// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is known of a rank that is held at its end.
#pragma once

#include <cstdint>

#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_process.hpp"
#include "rank_stopper.hpp"

namespace mpiacq {

/// The number of processes that the kernel of this node has killed because memory had run out (/proc/vmstat); 0 if it
/// does not count them.
[[nodiscard]] std::uint64_t out_of_memory_kills();

/// Whether SIGKILL ends the process, and the kernel has killed one for lack of memory since `kills_before` was counted.
[[nodiscard]] bool seems_out_of_memory(const process_ending& how, std::uint64_t kills_before);

/// How far MPI is in a process that is held.
[[nodiscard]] mpi_phase phase_of(process_id pid, const debug_file_search& search);

/// Reads everything about the end of a rank, except its stack. `kills_before`: `out_of_memory_kills` when the rank was
/// first followed.
[[nodiscard]] rank_end read_end(const rank_process& rank, const process_ending& how, const rank_stopper& grip,
                                const debug_file_search& search, std::uint64_t kills_before);

}  // namespace mpiacq
