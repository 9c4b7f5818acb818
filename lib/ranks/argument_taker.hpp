// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "mpiacq/process/process_symbols.hpp"
#include "rank_stopper.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// Takes stacks, and the arguments of the MPI call that the first thread of each rank is in. The registers and the
/// memory of a call say something only while the rank stands still, so that all ranks stay held until the last one has
/// been read. `stacks` uses the same stopper. Ranks that the caller holds stay held.
[[nodiscard]] node_stacks take_with_arguments(rank_stopper& grip, stack_taker& stacks,
                                              std::span<const wanted_rank> ranks, const stack_options& options,
                                              const debug_file_search& search);

}  // namespace mpiacq
