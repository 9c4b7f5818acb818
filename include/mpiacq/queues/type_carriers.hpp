// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Type carriers: what a message-queue library must know of its MPI's types, where the MPI itself was built without
// debug information.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"

namespace mpiacq {

/// What a carrier is made of and where it goes. Empty: as it says.
struct carrier_request {
  std::string mpi;           ///< one of carrier_names()
  std::string wrapper;       ///< its compiler wrapper; empty: the first in PATH that is this MPI's
  std::string library;       ///< the MPI library that it is for; empty: the one that the wrapper links
  std::string output;        ///< empty: into the cache, under the library's build id
  std::string cache_folder;  ///< empty: default_carrier_folder()
  /// The library must have this build id: not_found, before anything is compiled. Empty: it may have any.
  std::vector<std::byte> build_id = {};
};

/// A carrier that fits its library.
struct type_carrier {
  std::string path;
  std::string mpi;      ///< as in the request
  std::string version;  ///< of the headers and of the library: "4.1.4"
  std::string library;
  std::vector<std::byte> build_id;    ///< of the library
  std::vector<std::string> compared;  ///< types whose size the library itself bears out
};

/// The MPIs that are known here, also those for which no carrier can be made: `make_type_carrier` says why.
[[nodiscard]] std::vector<std::string> carrier_names();

/// Compiles the types out of the MPI's own internal headers, where its development package has them, with the compiler
/// that its wrapper names; holds the result against the library (its version, and sizes of types that its data gives
/// away); and puts it into place in one step. Runs the wrapper and the compiler, as the user; a minute at most each.
/// Errors: invalid_argument (no such MPI), not_found (the wrapper, the headers, the library: what to install),
/// unsupported (this MPI's headers are nowhere installed), exec_failed (the compiler, in its own words), bad_format
/// (headers and library do not go together), permission, timed_out, system.
[[nodiscard]] result<type_carrier> make_type_carrier(const carrier_request& request);

/// Which of `carrier_names` for which carriers can be made a process uses, as its MPI library's symbols show it. Empty
/// for any other.
[[nodiscard]] std::optional<std::string> mpi_with_carriers(symbol_source& symbols);

/// $XDG_CACHE_HOME/mpiacq/types, else ~/.cache/mpiacq/types; empty where neither is said.
[[nodiscard]] std::string default_carrier_folder();

/// The carrier for the library of this build id; empty where there is none. permission: somebody else could have
/// written it, so it is not used. An empty folder: default_carrier_folder().
[[nodiscard]] result<std::optional<std::string>> find_type_carrier(const std::vector<std::byte>& build_id,
                                                                   std::string folder = {});

/// Holds types against a process, or a file, that uses their MPI: objects of the library whose sizes the types must
/// have. Gives the types that were borne out, none where nothing of this can be seen there (another MPI, a stripped
/// static program). `only_in` limits that to one module's objects. bad_format: which type has another size.
[[nodiscard]] result<std::vector<std::string>> check_types(type_source& types, memory_reader& memory,
                                                           const target_abi& abi, symbol_source& symbols,
                                                           const module* only_in = nullptr);

/// Types of one release of an MPI as distributions configure it, which this library brings along for machines that have
/// neither compiler nor headers.
struct built_in_types {
  std::string title;                   ///< the release: "Open MPI 4.1.4"
  std::shared_ptr<type_source> types;  ///< thread: any, several at a time
  std::vector<std::string> compared;   ///< types whose size the process itself bears out
};

/// The built-in types for a process: those of its MPI's release series (4.1, 5.0), if the process bears out the sizes
/// of ten of them (`check_types`). Empty where there are none for its MPI, its release, or its machine. There are types
/// for Open MPI 4.0, 4.1, 5.0 and 6.0 on x86-64. bad_format: the process has other sizes, or does not show enough of
/// them.
[[nodiscard]] result<std::optional<built_in_types>> find_built_in_types(memory_reader& memory, const target_abi& abi,
                                                                        symbol_source& symbols);

/// The library's build id that a carrier of ours was made for; empty where the file does not say.
[[nodiscard]] std::string carrier_made_for(const std::string& path);

/// What to do where a message-queue library asked for types that nobody knows, as a sentence: what to install or run.
[[nodiscard]] std::string about_missing_types(std::string_view first_missing, std::size_t count);

}  // namespace mpiacq
