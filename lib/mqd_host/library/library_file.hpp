// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::mqd_host {

/// A queue library's file, open. What was looked at is what will be loaded, whatever becomes of its path.
struct library_file {
  base::unique_fd file;
  std::string path;     ///< as it was named
  std::string warning;  ///< why it should not have been loaded, where the caller insisted; else empty
};

/// Opens it as queue_library_trust (queue_host.hpp) asks, or in spite of that, and checks that this program could load
/// it. Errors: not_found, permission, bad_format.
[[nodiscard]] result<library_file> open_library(const std::string& path, std::uint32_t user, bool in_spite);

}  // namespace mpiacq::mqd_host
