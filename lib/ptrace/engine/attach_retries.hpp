// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <sys/types.h>

#include "engine/requests.hpp"

namespace mpiacq::tracing {

/// Attaches that met another tracer and are retried. The process is not traced until then.
///
/// Two tracers that attach at the same time begin with the same thread, and one of them gets it. If that thread ends at
/// this moment, each tracer can hold threads that the other one needs. Both release their threads then, and retry after
/// different times.
class attach_retries {
 public:
  struct retry {
    pid_t process = 0;
    deadline when = no_deadline;
    attach_request request;
  };

  /// The request is due after a random time of some milliseconds.
  void add(pid_t process, clock::time_point now, attach_request request);
  [[nodiscard]] std::vector<retry> take_due(clock::time_point now);
  [[nodiscard]] std::vector<retry> take_all();
  [[nodiscard]] deadline next() const;
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  std::vector<retry> all_;
};

}  // namespace mpiacq::tracing
