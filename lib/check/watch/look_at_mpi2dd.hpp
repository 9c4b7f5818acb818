// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Observes MPI2DD in a starter, and the job that it leads to. Nothing is written.
#pragma once

#include <optional>

#include "mpiacq/check/check_observations.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::check {

/// The interface's symbols, and its block as it begins where the starter was launched. Gives where MPI2DD_breakpoint
/// is.
[[nodiscard]] std::optional<target_address> look_for_mpi2dd(const target& starter, const module* home, mode how,
                                                            mpi2dd_seen& seen);
/// The starter has called MPI2DD_breakpoint.
void look_at_mpi2dd_event(const target& starter, mpi2dd_seen& seen);
/// Walks the job. Where one was seen before, only a whole one with more processes takes its place. Ranks of this
/// node are looked at once each, up to a bound, and again until one of them is seen at an abort.
void look_at_mpi2dd_job(process_id starter, const debug_file_search& search, mpi2dd_seen& seen);

}  // namespace mpiacq::check
