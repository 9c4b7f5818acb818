// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "watch/waiting_process.hpp"

namespace mpiacq::check {

/// The functions of a process that say how far it has come.
struct landmarks {
  std::vector<code_range> main;  ///< empty where the program's main is not known
  std::vector<code_range> mpi_init;
  std::vector<code_range> code;  ///< all that can be executed
};
[[nodiscard]] landmarks landmarks_of(process_symbols& symbols, process_id pid);

/// Which of them are on the stack of a thread that does not run. Nothing is unwound, for that takes registers that only
/// a tracer sees: the words of the stack in use are looked at as return addresses. MPI_Init is in progress where a word
/// leads into it and, farther up, another returns from a call of it. One word alone would not do: calls that are over
/// leave theirs behind in what later frames do not fill. On machines whose calls are not decoded, and where a call
/// through a register hides its target, the first word alone has to do, so that the answer then errs towards MPI_Init.
struct calls_in_progress {
  bool main = false;
  bool mpi_init = false;
};
[[nodiscard]] std::optional<calls_in_progress> calls_on_stack(memory_reader& memory, const target_abi& abi,
                                                              target_address from, target_address to,
                                                              const landmarks& known);

}  // namespace mpiacq::check
