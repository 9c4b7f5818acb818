// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The handles of the requests that a call names. Every MPI passes them in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "mpiacq/queues/mpi_request.hpp"

namespace mpiacq {

/// The reader looks at the first requests of a call, up to this number. It counts all others as not known.
inline constexpr std::uint64_t most_requests = 4096;
/// The reader tells at most this many kinds of pending requests apart. It counts all others as not known.
inline constexpr std::size_t most_kinds_of_requests = 64;

/// Where the handles of a call are, and how they look.
struct named_requests {
  std::vector<std::uint64_t> handles;
  std::uint64_t beyond = 0;  ///< requests that are not looked at
};

/// The handles that the arguments name, of `width` bytes each; empty if they name none.
[[nodiscard]] std::optional<named_requests> named_by(std::span<const mpi_argument> arguments, std::size_t width,
                                                     const target_abi& abi, memory_reader& memory);

}  // namespace mpiacq
