// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// What the tracing process tells its guard (guard.hpp) about its processes.
class guard_link {
 public:
  /// `socket`: SOCK_SEQPACKET; -1: there is no guard.
  explicit guard_link(int socket) : socket_(socket) {}

  [[nodiscard]] bool has_guard() const { return socket_ >= 0; }
  /// Sends a note where something about the process has changed. To be called before a breakpoint is armed and after it
  /// is out: no breakpoint is ever armed that the guard does not know of.
  void tell(traced_process& process) const;

 private:
  int socket_;
};

}  // namespace mpiacq::tracing
