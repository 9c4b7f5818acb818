// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The communicator, window or file that a call names, from the objects of Open MPI.
#pragma once

#include <optional>
#include <span>

#include "handles/process_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/called_communicator.hpp"
#include "mpiacq/queues/mpi_argument.hpp"

namespace mpiacq {

/// The communicator that the arguments of a call name, if the program has made it; or that of the file that they name;
/// or the group of the window that they name. It is believed only if its object
/// and its groups are of Open MPI's classes, if all that they say is plausible, and if this process has in its group
/// the same number in the job as in the world. Members of another job are not known (-1). Empty if the arguments name
/// no such communicator, if it is not believed, if the process has another MPI, or if its types are not known. Its
/// group is empty if Open MPI stores it in another way than as a list.
[[nodiscard]] std::optional<called_communicator> read_openmpi_communicator(std::span<const mpi_argument> arguments,
                                                                           const process_handles& handles,
                                                                           mpi_language language,
                                                                           memory_reader& memory);

}  // namespace mpiacq
