// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The communicator that the MPI call of a rank names, as the objects of its MPI describe it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/queues/mpi_argument.hpp"

namespace mpiacq {

/// The communicator of a call, read from the rank's memory. No queue library has a part in it.
struct called_communicator {
  /// What the call names: a communicator, a window or a file.
  mpi_role by = mpi_role::communicator;
  /// Its group has at least one known member if it is not empty. Nothing is known of its queues. A window has no id.
  queue_communicator facts = {};
  /// For a communicator with a topology: the ranks of the communicator from which a neighbourhood collective call
  /// receives. Empty if it has no topology, or if it is not known.
  std::optional<std::vector<std::int64_t>> sources = {};
};

}  // namespace mpiacq
