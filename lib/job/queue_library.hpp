// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/error.hpp"
#include "mpiacq/ids.hpp"
#include "mpiacq/memory.hpp"
#include "mpiacq/process_symbols.hpp"

namespace mpiacq {

/// The message-queue library that a rank of this node asks for (MPIR_dll_name, an array or, in one launcher, a
/// pointer). Empty where the rank has none, has not come so far, or may not be read. The rank is not stopped.
[[nodiscard]] std::optional<std::string> queue_library_of(process_id pid);
/// The same with MPI2DD: the rank's own name for it, in the info block, for debuggers of our width; else its starter's.
/// Empty too where either says that there are no queues to look at.
[[nodiscard]] std::optional<std::string> mpi2dd_queue_library_of(process_id rank, process_id starter);

/// The file of the library that a rank asks for: the first that is there of those that its mpimsgq_dll_locations lists,
/// its MPIR_dll_name, and the name that debuggers take where there is neither (libtvmpich.so). A name without a folder
/// is looked for beside the MPI library. With MPI2DD the name of its info block comes before all of these, then that of
/// the starter's. not_found: what was looked for, and what to do; unsupported: by MPI2DD there is nothing to be shown.
[[nodiscard]] result<std::string> find_queue_library(process_symbols& symbols, memory_reader& memory,
                                                     std::optional<process_id> starter = {});

}  // namespace mpiacq
