// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpiacq/base/memory.hpp"
#include "tables/decoding.hpp"
#include "tables/table_layouts.hpp"

namespace mpiacq::mpi2dd {

/// The spawn descriptors of a process table, by the numbers of their addresses.
struct read_spawns {
  column<std::uint32_t> parent_worlds;  ///< numbers of string addresses
  column<std::int32_t> parent_ranks;
  column<std::int32_t> sequences;
  std::vector<target_address> stopped_at;  ///< of the unreadable ones; null for the others. Empty where all are there
};

/// Reads every descriptor once: those that stand near each other in one range, many ranges in a call.
[[nodiscard]] result<read_spawns> read_spawn_descriptors(memory_reader& memory, const target_abi& abi,
                                                         std::span<const target_address> addresses,
                                                         address_ids& string_ids);

}  // namespace mpiacq::mpi2dd
