// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/mpi_request.hpp"

namespace mpiacq {

std::string_view name(mpi_request_kind kind) {
  switch (kind) {
    case mpi_request_kind::point_to_point:
      return "point-to-point";
    case mpi_request_kind::collective:
      return "collective";
    case mpi_request_kind::communicator:
      return "communicator";
    case mpi_request_kind::window:
      return "window";
    case mpi_request_kind::file:
      return "file";
    case mpi_request_kind::generalized:
      return "generalized";
    case mpi_request_kind::partitioned:
      return "partitioned";
  }
  return "";
}

}  // namespace mpiacq
