// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "known_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// Reads the arguments of the MPI calls that held ranks are in.
class call_reader {
 public:
  /// `stacks` has taken the stacks of the ranks. It must outlive this object.
  call_reader(stack_taker& stacks, debug_file_search search) : stacks_(stacks), search_(std::move(search)) {}

  /// The arguments of the call that the program has made, in the order of C. Empty if nothing is known of them, or if
  /// the thread is in no MPI call. The process is held since the stack was taken.
  [[nodiscard]] std::vector<mpi_argument> arguments_of(const thread_stack& thread);

 private:
  /// Those of a process whose stack was taken. Errors: those of `process_symbols::open` and `look_up`.
  [[nodiscard]] result<process_handles> handles_of(process_id pid, memory_reader& memory);

  stack_taker& stacks_;
  debug_file_search search_;
  known_handles known_;
};

}  // namespace mpiacq
