// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The requests that a call names, from the objects of Open MPI.
#pragma once

#include <optional>
#include <span>

#include "handles/process_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "mpiacq/queues/mpi_request.hpp"
#include "objects/named_requests.hpp"

namespace mpiacq {

/// The requests that the arguments of a call name. A request is believed only if its object is of Open MPI's class of
/// requests and all that it says is plausible. Empty if the arguments name no requests, if the process has another MPI,
/// or if its types are not known.
[[nodiscard]] std::optional<awaited_requests> read_openmpi_requests(std::span<const mpi_argument> arguments,
                                                                    const process_handles& handles,
                                                                    mpi_language language, memory_reader& memory);

}  // namespace mpiacq
