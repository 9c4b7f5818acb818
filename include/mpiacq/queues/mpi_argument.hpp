// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The arguments of the MPI call that a rank is in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpiacq/process/call_arguments.hpp"

namespace mpiacq {

/// What a parameter says about a call.
enum class mpi_role : std::uint8_t {
  buffer,
  count,
  send_count,
  receive_count,
  target_count,
  request_count,  ///< the number of requests in the array
  datatype,
  send_type,
  receive_type,
  target_type,
  displacement,  ///< in a buffer or a window
  destination,
  source,
  target,  ///< a rank of a window
  root,
  local_leader,
  remote_leader,  ///< a rank of the peer communicator
  tag,
  send_tag,
  receive_tag,
  communicator,
  peer_communicator,
  operation,
  request,
  message,
  status,
  window,
  file,
  group,
  info,
  session,
  error_handler,
  color,
  key,
  lock_type,
  assertion,
  partition,
  partitions,  ///< the number of partitions
  offset,      ///< in a file
  size,        ///< in bytes
  number,      ///< any other integer
  text,        ///< a string, or an array of strings
};
/// "source", "send_tag", "communicator": the role as JSON and docs/mpi_calls.md have it.
[[nodiscard]] std::string_view name(mpi_role role);

/// One argument with its meaning.
struct mpi_argument {
  mpi_role role = mpi_role::number;
  bool is_known = false;
  bool is_address = false;  ///< of a buffer, a text or an array: the value says where it is
  std::int64_t value = 0;   ///< a number; or the bits of a handle or an address
  std::string name;         ///< of a special number or a predefined handle: "MPI_ANY_TAG", "MPI_COMM_WORLD"
  argument_source source = argument_source::unknown;  ///< how the value was found

  friend bool operator==(const mpi_argument&, const mpi_argument&) = default;
};

}  // namespace mpiacq
