// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Shared libraries that a foreign process names: which of them this program lets a helper process load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/remedies.hpp"

namespace mpiacq::base {

/// The words of the error sentences about a library.
struct library_words {
  std::string_view what = "the queue library";
  std::string_view remedy = remedies::trust_queue_library;  ///< to load it all the same; empty: there is no way
};

/// The open file of a library. The checked file is the one that is loaded, even if its path leads elsewhere later.
struct library_file {
  unique_fd file;
  std::string path;     ///< as the caller gave it
  std::string warning;  ///< why the file is not trusted, if the caller loads it all the same; else empty
};

/// Opens the file by the rules of queue_library_trust (queue_host.hpp), or with `in_spite` regardless of them, and
/// checks that this program could load it. The path and the links on it are followed below `root`; empty: the root of
/// this program. Errors: not_found, permission, bad_format.
[[nodiscard]] result<library_file> open_library(const std::string& path, std::uint32_t user, bool in_spite,
                                                const library_words& words = {}, const std::string& root = {});
/// The rules alone. Errors: as for `open_library`.
[[nodiscard]] result<void> check_trust(const std::string& path, std::uint32_t user, const library_words& words = {});

}  // namespace mpiacq::base
