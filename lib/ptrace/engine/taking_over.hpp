// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/attaching.hpp"
#include "engine/resuming.hpp"

namespace mpiacq::tracing {

struct guarded_process;

/// The guard's work after the tracer server was killed: it attaches to each process of the tracer server, removes the
/// breakpoints, and releases the process.
class taking_over {
 public:
  taking_over(kernel_access kernel, tracee_table& tracees, attaching& attacher, breakpoints& armed, detaching& leaving,
              resuming& running, event_queue& events)
      : kernel_(kernel),
        tracees_(tracees),
        attaching_(attacher),
        breakpoints_(armed),
        detaching_(leaving),
        resuming_(running),
        events_(events) {}

  /// The tool receives `why` when the process is clean.
  void take_over(const guarded_process& left, const error& why);
  /// Whether some processes have not stopped yet. Until then a detach would leave their breakpoints in them.
  [[nodiscard]] bool is_under_way() const { return under_way_ > 0; }

 private:
  void clean(const guarded_process& left);

  kernel_access kernel_;
  tracee_table& tracees_;
  attaching& attaching_;
  breakpoints& breakpoints_;
  detaching& detaching_;
  resuming& resuming_;
  event_queue& events_;
  std::size_t under_way_ = 0;
};

}  // namespace mpiacq::tracing
