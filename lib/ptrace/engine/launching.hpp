// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/detaching.hpp"

namespace mpiacq::tracing {

/// Starts programs, and controls them from the launch to the entry point.
class launching {
 public:
  launching(kernel_access kernel, tracee_table& tracees, breakpoints& armed, detaching& leaving,
            const guard_link& guard, event_queue& events)
      : kernel_(kernel), tracees_(tracees), breakpoints_(armed), detaching_(leaving), guard_(guard), events_(events) {}

  void launch(launch_order order, reply<process_id> answer);
  /// Phase launching: the exec has worked. The process is in phase running then.
  static void on_exec(traced_process& process);
  /// Phase launching: the child has ended before its exec worked.
  void on_end(traced_process& process, const exit_status& status);
  /// Plans the stop at the entry point. The process has a new program and stands at the first instruction of its
  /// loader, or of the program itself if it is static.
  void plan_entry_stop(traced_process& process);

 private:
  void start_child(pending_launch launch);

  kernel_access kernel_;
  tracee_table& tracees_;
  breakpoints& breakpoints_;
  detaching& detaching_;
  const guard_link& guard_;
  event_queue& events_;
};

}  // namespace mpiacq::tracing
