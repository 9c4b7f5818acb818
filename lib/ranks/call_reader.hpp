// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "known_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/queues/called_communicator.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "mpiacq/queues/mpi_request.hpp"
#include "mpiacq/queues/queue_types.hpp"
#include "objects/shared_groups.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// The arguments of a call as `rank_activity` has them, and the requests and the communicator that they name.
struct read_call {
  std::vector<mpi_argument> arguments = {};
  std::optional<awaited_requests> requests = {};
  std::optional<called_communicator> on = {};
};

/// Reads the arguments of the MPI calls that held ranks are in.
class call_reader {
 public:
  /// `stacks` has taken the stacks of the ranks. `types` tell where the members of an MPI's objects are; null: requests
  /// and communicators are not read. Both must outlive this object.
  call_reader(stack_taker& stacks, debug_file_search search, queue_types* types = nullptr)
      : stacks_(stacks), search_(std::move(search)), types_(types) {}

  /// The arguments of the call that the program has made, in the order of C. Empty if nothing is known of them, or if
  /// the thread is in no MPI call. The process is held since the stack was taken.
  [[nodiscard]] read_call read(const thread_stack& thread);

 private:
  /// Those of a process whose stack was taken. Errors: those of `process_symbols::open` and `look_up`.
  [[nodiscard]] result<process_handles> handles_of(process_id pid, memory_reader& memory);

  stack_taker& stacks_;
  debug_file_search search_;
  queue_types* types_;
  known_handles known_;
  shared_groups groups_;
};

}  // namespace mpiacq
