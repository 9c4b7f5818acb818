// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq {

/// The file of the queue library that a rank names. Candidates, in order: the name in its MPI2DD info block, and that
/// of its starter; the list in mpimsgq_dll_locations; MPIR_dll_name (an array or, in one launcher, a pointer); and if
/// the rank names none, libtvmpich.so (Message Queue Dumping 1.06, "Startup"). The first file that exists is the
/// result. A name without a folder is searched for beside the MPI library, and then where the rank's dynamic linker
/// would search. The rank may run. Errors: not_found: the message lists the candidates and the remedy; unsupported: the
/// MPI2DD info block says that this rank has no queues to show.
[[nodiscard]] result<std::string> find_queue_library(process_id rank, process_symbols& symbols, memory_reader& memory,
                                                     std::optional<process_id> starter = {});

/// /proc/PID/root if the process is in a container with files of its own; empty if it has this program's root and
/// mounts. The path that `find_queue_library` returns is relative to that root (queue_host_options::root).
[[nodiscard]] std::string root_of_container(process_id pid);

/// The same for a rank of this node. If no candidate exists, returns the first name that the rank gives. Empty if the
/// rank gives no name, has not initialised MPI yet, or may not be read.
[[nodiscard]] std::optional<std::string> queue_library_of(process_id pid, std::optional<process_id> starter = {});

}  // namespace mpiacq
