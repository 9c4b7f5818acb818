// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace mpiacq::base {

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Every program of ours calls this before anything
/// else: otherwise the next socket or file of another process gets one of these numbers, and messages are written into
/// it. Reading gives the end of a file. False where the system refuses.
[[nodiscard]] inline bool open_missing_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one, because those before it are open by now.
    if (::open("/dev/null", O_RDWR) != stream) return false;
  }
  return true;
}

}  // namespace mpiacq::base
