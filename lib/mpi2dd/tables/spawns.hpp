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
  std::vector<target_address>
      stopped_at;  ///< the first unreadable byte of each; null for a readable one; no elements if all are readable
};

/// Reads every descriptor once: neighbouring descriptors in one range, many ranges in one call.
[[nodiscard]] result<read_spawns> read_spawn_descriptors(memory_reader& memory, const target_abi& abi,
                                                         std::span<const target_address> addresses,
                                                         address_ids& string_ids);

}  // namespace mpiacq::mpi2dd
