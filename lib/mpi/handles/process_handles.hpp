// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The MPI of one process, as far as its handles and constants are concerned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "handles/handle_meaning.hpp"
#include "mpiacq/base/abi.hpp"
#include "mpiacq/process/symbols.hpp"
#include "objects/mpich_objects.hpp"
#include "objects/openmpi_objects.hpp"

namespace mpiacq {

/// The ABI of a process's MPI, and its predefined objects. They stay where they are for as long as the process runs.
struct process_handles {
  mpi_abi abi = mpi_abi::unknown;
  std::uint8_t address_bytes = 8;
  std::unordered_map<std::uint64_t, std::string> objects;  ///< Open MPI and MPICH: symbols by address
  std::optional<openmpi_objects> layouts = {};             ///< Open MPI, where its types are known
  std::optional<mpich_objects> mpich = {};                 ///< MPICH, where its types are known

  /// For the handles in a call from this language. The result uses this object.
  [[nodiscard]] handle_context context(mpi_language language) const;
  /// The machine of the process. Only calls of this machine's code have arguments, and all such machines are
  /// little-endian.
  [[nodiscard]] target_abi machine() const {
    target_abi made;
    made.pointer_size = address_bytes;
    return made;
  }
  /// The address of a symbol among `objects`; empty if it is not there.
  [[nodiscard]] std::optional<target_address> address_of(std::string_view symbol) const;
};

/// Asks for the symbols that the program has loaded: no file is opened. The ABI is unknown if they do not tell it.
/// Errors: those of `symbol_source::look_up`.
[[nodiscard]] result<process_handles> find_process_handles(target& process);
/// Adds where the members of the MPI's objects are. What the types do not say stays unknown. The symbols of MPICH's
/// objects are local: its file is opened for them if the types are known.
void find_layouts(target& process, type_source& types, process_handles& into);

}  // namespace mpiacq
