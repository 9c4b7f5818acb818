// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::mqd_host {

/// The open file of a queue library. The checked file is the one that is loaded, even if its path leads elsewhere
/// later.
struct library_file {
  base::unique_fd file;
  std::string path;     ///< as the caller gave it
  std::string warning;  ///< why the file is not trusted, if the caller loads it all the same; else empty
};

/// Opens the file by the rules of queue_library_trust (queue_host.hpp), or with `in_spite` regardless of them, and
/// checks that this program could load it. Errors: not_found, permission, bad_format.
[[nodiscard]] result<library_file> open_library(const std::string& path, std::uint32_t user, bool in_spite);

}  // namespace mpiacq::mqd_host
