// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq {

/// The file of the library that a rank asks for: the first that is there of those that its mpimsgq_dll_locations lists
/// and its MPIR_dll_name (an array or, in one launcher, a pointer), and the name that debuggers take where there is
/// neither (libtvmpich.so; Message Queue Dumping 1.06, "Startup"). A name without a folder is looked for beside the MPI
/// library, and then where the rank's own dynamic linker would. With MPI2DD the name of its info block comes before all
/// of these, then that of its starter's. The rank may run. not_found: what was looked for, and what to do; unsupported:
/// by MPI2DD there is nothing to be shown.
[[nodiscard]] result<std::string> find_queue_library(process_id rank, process_symbols& symbols, memory_reader& memory,
                                                     std::optional<process_id> starter = {});

/// /proc/PID/root if the process is in a container with files of its own; empty if it has this program's root and
/// mounts. The path of `find_queue_library` is one below that root (queue_host_options::root).
[[nodiscard]] std::string root_of_container(process_id pid);

/// The same for a rank of this node; where no such file is there, the first name that the rank tells. Empty where it
/// tells none, has not come so far, or may not be read.
[[nodiscard]] std::optional<std::string> queue_library_of(process_id pid, std::optional<process_id> starter = {});

}  // namespace mpiacq
