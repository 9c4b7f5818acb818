// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpiacq {

/// The files that this machine's dynamic linker has for a library's name ("libmpi.so.40"), by its cache
/// /etc/ld.so.cache. In the cache's order, which is the linker's preference; of all architectures. None where the cache
/// cannot be read, or does not know the name. The cache is read at each call: an administrator may make it again.
/// Thread: any.
[[nodiscard]] std::vector<std::string> files_in_linker_cache(std::string_view library);

}  // namespace mpiacq
