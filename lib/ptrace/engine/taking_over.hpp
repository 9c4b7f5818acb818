// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/attaching.hpp"
#include "engine/resuming.hpp"

namespace mpiacq::tracing {

struct guarded_process;

/// What the guard does when the tracing process has been killed: it attaches to each process that the tracing process
/// had, takes the breakpoints out, and lets the process go.
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

  /// The tool is told `why` once the process is clean.
  void take_over(const guarded_process& left, const error& why);
  /// Some processes have not stopped yet. Until then a detach would leave their breakpoints in them.
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
