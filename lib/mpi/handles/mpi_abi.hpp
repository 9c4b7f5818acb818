// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The binary interfaces of MPI libraries: what their constants and handles look like in a call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mpiacq {

/// Libraries with the same mpi.h, as far as calls are concerned.
enum class mpi_abi : std::uint8_t {
  unknown,
  openmpi,   ///< Open MPI and libraries made from it: a handle is the address of an object
  mpich,     ///< MPICH, Intel MPI, Cray MPICH, MVAPICH: a handle is a number of 32 bits
  standard,  ///< the ABI of MPI 5.0 (libmpi_abi.so): a predefined handle is a small number
};

/// The language from which a function is called: it decides how parameters are passed.
enum class mpi_language : std::uint8_t { c, fortran };

/// Numbers with a special meaning as arguments.
struct mpi_constants {
  std::int32_t any_source;
  std::int32_t any_tag;
  std::int32_t proc_null;
  std::int32_t root;
  std::int32_t lock_exclusive;
  std::int32_t lock_shared;
};
/// MPI_UNDEFINED in all of them.
inline constexpr std::int32_t mpi_undefined = -32766;

/// Null if the ABI is unknown.
[[nodiscard]] const mpi_constants* constants_of(mpi_abi abi);

/// Whether a file is an MPI library, by its name: libmpi.so, libmpich.so, libmpi_abi.so.
[[nodiscard]] bool is_mpi_library(std::string_view path);

/// Whether a program or its libraries define a symbol.
using symbol_question = std::function<bool(const std::string& name)>;
/// The ABI of the library from which MPI functions come; a static program is its own library. The file's name says it,
/// or else the symbols that the mpi.h of an ABI needs. Unknown if both say nothing.
[[nodiscard]] mpi_abi abi_of_library(std::string_view path, const symbol_question& defines);

}  // namespace mpiacq
