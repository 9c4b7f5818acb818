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
  std::size_t needed = 0;  ///< of the last one: a packed one may end where memory does
  std::string_view what;   ///< "the process table"
};

/// Reads an array in pieces of half a megabyte, and hands each to `decode` with its number of structures. What is there
/// less than claimed goes into `facts`. Errors: unreadable_memory (not even the first), bad_format (fewer than none),
/// those of `read_ranges`.
[[nodiscard]] result<void> read_pieces(memory_reader& memory, const target_abi& abi, const array_place& place,
                                       const table_limits& limits, table_facts& facts,
                                       const std::function<void(const std::byte*, std::size_t)>& decode);

}  // namespace mpiacq::mpi2dd
