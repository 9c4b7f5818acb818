// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The requests that the MPI call of a rank names, as the objects of its MPI describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpiacq {

/// What a request is for.
enum class mpi_request_kind : std::uint8_t {
  point_to_point,  ///< MPI_Isend, MPI_Irecv and similar calls
  collective,      ///< MPI_Ibarrier, MPI_Iallreduce and similar calls
  communicator,    ///< MPI_Comm_idup
  window,          ///< MPI_Rput and similar calls
  file,            ///< MPI_File_iread and similar calls
  generalized,     ///< MPI_Grequest_start: the program itself completes the request
  partitioned,     ///< MPI_Psend_init, MPI_Precv_init
};
/// "point-to-point", "collective", "communicator", "window", "file", "generalized", "partitioned"
[[nodiscard]] std::string_view name(mpi_request_kind kind);

/// The message of a pending send or receive.
struct request_message {
  bool is_send = false;
  /// The other rank, in the communicator; of an intercommunicator, in its other side. Empty: MPI_ANY_SOURCE.
  std::optional<std::int64_t> peer;
  /// The other rank in MPI_COMM_WORLD. Empty: MPI_ANY_SOURCE, a process of another world, or not known.
  std::optional<std::uint32_t> world_rank;
  std::optional<std::int64_t> tag;  ///< empty: MPI_ANY_TAG

  friend bool operator==(const request_message&, const request_message&) = default;
};

/// Pending requests of one kind on one communicator.
struct pending_requests {
  mpi_request_kind kind = mpi_request_kind::point_to_point;
  bool persistent = false;                    ///< MPI_Send_init, MPI_Barrier_init and similar calls have made them
  std::optional<std::uint64_t> communicator;  ///< as `queue_communicator::id`; empty if it has none or is not known
  std::string communicator_name;              ///< of a predefined communicator: "MPI_COMM_WORLD"; otherwise empty
  std::uint64_t count = 1;
  /// Of a send or a receive; empty for any other request, and if it is not known. The objects of Open MPI do not say
  /// it.
  std::optional<request_message> message = {};

  friend bool operator==(const pending_requests&, const pending_requests&) = default;
};

/// The requests that a call waits for or tests.
struct awaited_requests {
  std::vector<pending_requests> pending;  ///< in the order of the call
  std::uint64_t complete = 0;             ///< requests that need nothing any more, with MPI_REQUEST_NULL
  std::uint64_t unknown = 0;              ///< requests whose objects could not be read, or are not plausible

  friend bool operator==(const awaited_requests&, const awaited_requests&) = default;
};

}  // namespace mpiacq
