// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The first steps of a helper program that loads a foreign library (library_helper.hpp starts it).
#pragma once

#include <string_view>

namespace mpiacq::base {

/// The descriptor of the socket to the tool. The descriptors that the helper inherits beside it follow.
inline constexpr int helper_socket = 3;

/// The arguments are `NAME for PID [UID GID]`. PID is the process of the tool, whose death ends this process; UID and
/// GID are the user to become. The process gets a session of its own, keeps only the descriptors below `first_free`,
/// and goes to the root of the file system. Returns 0, or the exit status of the program: 1 if a step fails; 2 if the
/// arguments are others, which it answers with a sentence that says what the library uses this program for (`purpose`).
[[nodiscard]] int begin_helper(int argc, char** argv, int first_free, std::string_view purpose);

}  // namespace mpiacq::base
