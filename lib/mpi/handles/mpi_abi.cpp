// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "handles/mpi_abi.hpp"

#include <array>

#include "text/file_name.hpp"

namespace mpiacq {

namespace {

/// In the order of mpi_abi, without `unknown`.
constexpr std::array constants = {
    mpi_constants{-1, -1, -2, -4, 1, 2},
    mpi_constants{-2, -1, -1, -3, 234, 235},
    mpi_constants{-1, -2, -3, -4, 301, 302},
};

}  // namespace

const mpi_constants* constants_of(mpi_abi abi) {
  if (abi == mpi_abi::unknown) return nullptr;
  return &constants.at(static_cast<std::size_t>(abi) - 1);
}

bool is_mpi_library(std::string_view path) {
  return base::file_name_of(path).starts_with("libmpi");
}

mpi_abi abi_of_library(std::string_view path, const symbol_question& defines) {
  if (base::file_name_of(path).starts_with("libmpi_abi.")) return mpi_abi::standard;
  if (!defines) return mpi_abi::unknown;
  if (defines("ompi_mpi_comm_world")) return mpi_abi::openmpi;
  // A variable for MPICH's mpi.h, a macro for the others.
  if (defines("MPI_UNWEIGHTED")) return mpi_abi::mpich;
  return mpi_abi::unknown;
}

}  // namespace mpiacq
