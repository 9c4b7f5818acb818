// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The neighbours of a rank in a communicator with a topology, from the objects of Open MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "handles/process_handles.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// A rank with more neighbours than this is not looked at.
inline constexpr std::uint64_t most_neighbours = 4096;

/// The ranks of a communicator from which a neighbourhood collective call on it receives, in the order of MPI, without
/// MPI_PROC_NULL. `rank` is the process's own rank among `size`. Empty if the communicator has no topology, or if what
/// its objects say is not plausible.
[[nodiscard]] std::optional<std::vector<std::int64_t>> read_neighbours(target_address communicator,
                                                                       const process_handles& handles,
                                                                       object_reader& objects, memory_reader& memory,
                                                                       std::int64_t rank, std::int64_t size);

}  // namespace mpiacq
