// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/memory.hpp"
#include "mpiacq/process_symbols.hpp"

namespace mpiacq::check {

/// Code between two addresses, the first excluded: a return address into a function is never its first byte, a pointer
/// to it always is.
struct code_range {
  target_address begin;
  std::uint64_t size = 0;
  [[nodiscard]] bool holds_return_address(std::uint64_t address) const {
    return address > begin.value() && address - begin.value() <= size;
  }
};

/// The functions of a process that say how far it has come.
struct landmarks {
  std::vector<code_range> main;  ///< empty where the program's main is not known
  std::vector<code_range> mpi_init;
};
[[nodiscard]] landmarks landmarks_of(process_symbols& symbols);

/// Which of them are on the stack of a thread that does not run. Nothing is unwound: each word of the stack in use is
/// looked at, as a return address. What calls have left behind lies below the stack pointer, which is not read; a stale
/// word between two frames could be taken for a call, so the answer errs towards "in MPI_Init", never away from it.
struct calls_in_progress {
  bool main = false;
  bool mpi_init = false;
};
[[nodiscard]] std::optional<calls_in_progress> calls_on_stack(memory_reader& memory, const target_abi& abi,
                                                              target_address from, target_address to,
                                                              const landmarks& known);

}  // namespace mpiacq::check
