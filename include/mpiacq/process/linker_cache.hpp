// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Libraries in the dynamic linker's cache.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpiacq {

/// The files that the dynamic linker of this machine has for a library ("libmpi.so.40") in its cache /etc/ld.so.cache,
/// for all architectures, in the order of the linker's preference. Empty if the cache cannot be read or lacks the name.
/// The cache is read at each call, because an administrator may renew it. `root`: the root folder of a process in a
/// container (/proc/PID/root), whose linker has a cache of its own; empty: this program's root. Thread: any.
[[nodiscard]] std::vector<std::string> files_in_linker_cache(std::string_view library, const std::string& root = {});

}  // namespace mpiacq
