// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The PMIx server of a job: the process, the library that it uses, and where it listens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq::pmix {

using process_pointer = std::shared_ptr<const process_facts>;

/// A libpmix, as a process has mapped it.
struct mapped_library {
  std::string path;
  std::uint64_t device = 0;  ///< as st_dev of the file that is mapped
  std::uint64_t inode = 0;
  bool is_deleted = false;
};
/// The first libpmix in the text of /proc/PID/maps; empty if there is none.
[[nodiscard]] std::optional<mapped_library> pmix_library_in(std::string_view maps);

/// What a rank's environment says of its server.
struct told_by_rank {
  std::string uri;      ///< PMIX_SERVER_URI41 and its older siblings; empty: none
  std::string version;  ///< PMIX_VERSION
  std::string folder;   ///< PMIX_SERVER_TMPDIR, where the server keeps its files
  std::string nspace;   ///< PMIX_NAMESPACE
};
[[nodiscard]] told_by_rank server_in_environment(std::string_view environment);

/// A server that a tool can ask.
struct pmix_server {
  process_pointer process;
  std::string library;  ///< the path of its libpmix
  std::string uri;
  std::string version;  ///< of its PMIx; empty: not known
};

/// Whether a process has a libpmix mapped. False also if that cannot be read.
[[nodiscard]] bool uses_pmix(const process_facts& process);

/// The server that a process is. `rank`: the environment of one of its ranks, for a server whose rendezvous file is not
/// found. Empty if the process has no libpmix mapped. Errors: not_found (no rendezvous file and no rank shows where it
/// listens); unsupported (its library cannot be loaded here: another root, another mount namespace, or the file was
/// replaced); permission, process_gone.
[[nodiscard]] result<std::optional<pmix_server>> find_server(const process_pointer& process,
                                                             const std::optional<told_by_rank>& rank = {});

/// Why a server is asked only if the caller chooses PMIx: its release is known to harm its job if the asking tool is
/// killed. Empty: no such fault of its release is known.
[[nodiscard]] std::optional<error> known_harm_of(const pmix_server& server);

}  // namespace mpiacq::pmix
