// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/queues/mpi_phase.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq {

/// The meaning of Open MPI's `ompi_mpi_state`.
[[nodiscard]] mpi_phase openmpi_phase_of(std::int64_t state);
/// How far Open MPI is in a process; `unknown` if the process does not show it, because it has another MPI, or none.
[[nodiscard]] mpi_phase openmpi_phase(target& process);

/// How far an MPI is that was started through PMI (MPICH and its relatives), by the descriptors of the process. Its
/// launcher names a socket in PMI_FD. MPICH's communication layers have event descriptors while MPI is in use.
/// MPI_Finalize closes the socket in MPICH 4.0, and leaves it open in 4.2. So it is `unknown` whether a process with
/// the socket and without such descriptors is before MPI_Init or after MPI_Finalize; and also if no socket is named.
[[nodiscard]] mpi_phase phase_by_descriptors(process_id pid, const std::string& proc = proc_folder);

}  // namespace mpiacq
