// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The path with which a helper process loads a library that it got as an open file.
#pragma once

#include <string>

namespace mpiacq::base {

/// Whether the path leads to this open file.
[[nodiscard]] bool is_name_of(const std::string& path, int file);
/// The path with which a process loads the library behind this descriptor of its own: the file's real path, with all
/// links followed, so that the library finds its neighbours ($ORIGIN). The descriptor's own path, which has no
/// neighbours, if the name leads to another file by now or this user cannot reach it.
[[nodiscard]] std::string load_path_of(int file);

}  // namespace mpiacq::base
