// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Type carriers: files with the types that a queue library needs and that an MPI without debug information does not
/// ship.
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

/// What a carrier is made from, and where it goes. Empty members have the defaults that are named.
struct carrier_request {
  std::string mpi;           ///< one of carrier_names()
  std::string wrapper;       ///< the compiler wrapper; empty: the first one in PATH that belongs to this MPI
  std::string library;       ///< the MPI library that the types are for; empty: the one that the wrapper links
  std::string output;        ///< empty: in the cache, under the build id of the library
  std::string cache_folder;  ///< empty: default_carrier_folder()
  /// The build id that the library must have (else not_found, before anything is compiled). Empty: any.
  std::vector<std::byte> build_id = {};
};

/// A carrier, and the library that it fits.
struct type_carrier {
  std::string path;
  std::string mpi;      ///< as in the request
  std::string version;  ///< the version of headers and library: "4.1.4"
  std::string library;
  std::vector<std::byte> build_id;    ///< of the library
  std::vector<std::string> compared;  ///< the types whose size the library confirms
};

/// The names of the known MPIs, including those for which no carrier can be made; `make_type_carrier` says why.
[[nodiscard]] std::vector<std::string> carrier_names();

/// Makes a carrier. It compiles the types from the internal headers of the MPI, if the development package has them,
/// with the compiler of the wrapper; compares the result with the library (its version, and the sizes of types in its
/// data); and moves it to its place in one step. It runs the wrapper and the compiler as the user, each for at most a
/// minute. Errors: invalid_argument (unknown MPI), not_found (the wrapper, the headers or the library; the message says
/// what to install), unsupported (no package installs the headers of this MPI), exec_failed (with the words of the
/// compiler), bad_format (headers and library do not fit), permission, timed_out, system.
[[nodiscard]] result<type_carrier> make_type_carrier(const carrier_request& request);

/// Which of the MPIs for which carriers can be made a process uses, by the symbols of its MPI library. Empty for any
/// other MPI.
[[nodiscard]] std::optional<std::string> mpi_with_carriers(symbol_source& symbols);

/// $XDG_CACHE_HOME/mpiacq/types, else ~/.cache/mpiacq/types; empty if neither variable is set.
[[nodiscard]] std::string default_carrier_folder();

/// The path of the carrier for the library with this build id; empty if there is none. An empty `folder` means
/// default_carrier_folder(). Errors: permission (another user could have written the carrier, so it is not used).
[[nodiscard]] result<std::optional<std::string>> find_type_carrier(const std::vector<std::byte>& build_id,
                                                                   std::string folder = {});

/// Compares the sizes of types with objects of the MPI library in a process or file. Returns the types that were
/// confirmed; none if no such object can be seen (another MPI, a stripped static program). `only_in` limits the objects
/// to one module. Errors: bad_format (the type that has another size).
[[nodiscard]] result<std::vector<std::string>> check_types(type_source& types, memory_reader& memory,
                                                           const target_abi& abi, symbol_source& symbols,
                                                           const module* only_in = nullptr);

/// The types of one release of an MPI as distributions configure it. The library contains them for machines without
/// compiler and headers.
struct built_in_types {
  std::string title;                   ///< the release: "Open MPI 4.1.4"
  std::shared_ptr<type_source> types;  ///< thread: any, several at a time
  std::vector<std::string> compared;   ///< the types whose size the process confirms
};

/// The built-in types for a process: those of the release series of its MPI (4.1, 5.0), if the process confirms the
/// sizes of at least ten types (`check_types`). There are types for Open MPI 4.0, 4.1, 5.0 and 6.0 on x86-64; empty for
/// any other. Errors: bad_format (the process has other sizes, or shows fewer than ten).
[[nodiscard]] result<std::optional<built_in_types>> find_built_in_types(memory_reader& memory, const target_abi& abi,
                                                                        symbol_source& symbols);

/// The build id of the library for which a carrier was made; empty if the file does not have it.
[[nodiscard]] std::string carrier_made_for(const std::string& path);

/// A sentence that says what to install or run when a queue library needs `count` unknown types, of which one is
/// `first_missing`.
[[nodiscard]] std::string about_missing_types(std::string_view first_missing, std::size_t count);

}  // namespace mpiacq
