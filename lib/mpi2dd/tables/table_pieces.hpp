// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"

namespace mpiacq::mpi2dd {

/// An array of structures in the target.
struct array_place {
  target_address base;
  std::size_t stride = 0;
  std::size_t needed = 0;  ///< bytes of the last structure that must be readable: memory may end within its padding
  std::string_view what;   ///< "the process table"
};

/// Reads an array in pieces of half a megabyte, and passes each piece to `decode` with its number of structures. A
/// shortfall goes into `facts`. Errors: unreadable_memory (the first structure cannot be read), bad_format (the claimed
/// number is negative), those of `read_ranges`.
[[nodiscard]] result<void> read_pieces(memory_reader& memory, const target_abi& abi, const array_place& place,
                                       const table_limits& limits, table_facts& facts,
                                       const std::function<void(const std::byte*, std::size_t)>& decode);

}  // namespace mpiacq::mpi2dd
