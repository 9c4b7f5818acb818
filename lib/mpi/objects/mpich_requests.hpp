// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The requests that a call names, from the objects of MPICH.
#pragma once

#include <optional>
#include <span>

#include "handles/process_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "mpiacq/queues/mpi_request.hpp"
#include "objects/named_requests.hpp"

namespace mpiacq {

/// The requests that the arguments of a call name. A request is believed only if its object and that of its
/// communicator hold their own handles, and if all that it says is plausible. A generalized request counts as not
/// known: MPICH's operations on files look the same. Empty if the arguments name no requests, if the process has
/// another MPI, or if its types are not known.
[[nodiscard]] std::optional<awaited_requests> read_mpich_requests(std::span<const mpi_argument> arguments,
                                                                  const process_handles& handles, mpi_language language,
                                                                  memory_reader& memory);

}  // namespace mpiacq
