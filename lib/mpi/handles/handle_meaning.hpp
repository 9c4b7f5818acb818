// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a handle in a call means. Nothing here reads the memory of a rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "handles/mpi_abi.hpp"
#include "handles/predefined_handles.hpp"

namespace mpiacq {

/// The name of the data symbol that begins at an address of the rank; empty if there is none. Open MPI's predefined
/// handles are such addresses. A program may hold a copy of the library's object: its symbol has the same name.
using symbol_at_address = std::function<std::string(std::uint64_t address)>;

struct handle_context {
  mpi_abi abi = mpi_abi::unknown;
  mpi_language language = mpi_language::c;
  std::uint8_t address_bytes = 8;  ///< of the rank
  symbol_at_address symbol_at;     ///< may be empty
};

struct handle_meaning {
  /// False if the MPI cannot have such a handle: the value is no handle of this kind.
  bool is_possible = true;
  std::string name;                    ///< of a predefined handle: "MPI_COMM_WORLD"; otherwise empty
  bool is_null = false;                ///< MPI_COMM_NULL and similar handles
  std::optional<std::uint32_t> bytes;  ///< of one element, for a datatype whose size the handle tells
};

/// The number of bytes of a handle in a register or in memory.
[[nodiscard]] std::size_t handle_bytes(mpi_handle_kind kind, const handle_context& context);
/// The meaning of a handle. Bits of `value` beyond the handle's size do not count.
[[nodiscard]] handle_meaning meaning_of_handle(mpi_handle_kind kind, std::uint64_t value,
                                               const handle_context& context);

}  // namespace mpiacq
