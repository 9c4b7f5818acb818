// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// Sends the tracer server's notes about its processes to its guard (guard.hpp).
class guard_link {
 public:
  /// `socket`: SOCK_SEQPACKET; -1: no guard.
  explicit guard_link(int socket) : socket_(socket) {}

  [[nodiscard]] bool has_guard() const { return socket_ >= 0; }
  /// Sends a note if something about the process has changed. Must be called before a breakpoint is armed and after it
  /// is removed, so that the guard knows of every armed breakpoint.
  void tell(traced_process& process) const;

 private:
  int socket_;
};

}  // namespace mpiacq::tracing
