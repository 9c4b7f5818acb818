// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace mpiacq::base {

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Each program of this project calls this first:
/// otherwise the next socket or file gets one of these numbers, and messages are written into it. Reading from such a
/// descriptor gives the end of file. Returns false if the system refuses.
[[nodiscard]] inline bool open_missing_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open returns the lowest free number, and all lower ones are open by now.
    if (::open("/dev/null", O_RDWR) != stream) return false;
  }
  return true;
}

}  // namespace mpiacq::base
