// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "watch/waiting_process.hpp"

namespace mpiacq::check {

/// The functions of a process that show its progress.
struct landmarks {
  std::vector<code_range> main;  ///< empty where the program's main is not known
  std::vector<code_range> mpi_init;
  std::vector<code_range> code;  ///< all that can be executed
};
[[nodiscard]] landmarks landmarks_of(process_symbols& symbols, process_id pid);

/// Finds which of them are on the stack of a thread that does not run. Unwinding would need registers that only a
/// tracer sees, so the words of the used stack are examined as return addresses. MPI_Init is in progress if a word
/// leads into it and another word, farther up, returns from a call of it. One word alone is not enough: finished calls
/// leave stale words in places that later frames do not fill. If calls cannot be decoded, or a call through a register
/// hides its target, the first word alone decides, and the answer errs towards MPI_Init.
struct calls_in_progress {
  bool main = false;
  bool mpi_init = false;
};
[[nodiscard]] std::optional<calls_in_progress> calls_on_stack(memory_reader& memory, const target_abi& abi,
                                                              target_address from, target_address to,
                                                              const landmarks& known);

}  // namespace mpiacq::check
