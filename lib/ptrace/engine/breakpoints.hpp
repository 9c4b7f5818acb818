// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/tracee_table.hpp"
#include "kernel/kernel_access.hpp"

namespace mpiacq::tracing {

/// Inserts breakpoints and watchpoints into processes, arms them, and removes them.
///
/// They are armed (in the registers, in the code) only while a process runs. If the tracer dies while it holds a
/// process, no breakpoint is left in that process.
class breakpoints {
 public:
  breakpoints(kernel_access kernel, const tracee_table& tracees, event_queue& events)
      : kernel_(kernel), tracees_(tracees), events_(events) {}

  // All threads of the process are stopped.
  [[nodiscard]] result<breakpoint_kind> insert(traced_process& process, target_address address, breakpoint_kind kind,
                                               breakpoint_role for_whom);
  /// Removes the breakpoints of one role: all of them, or the one at `only`. A breakpoint with both roles stays for the
  /// other role.
  [[nodiscard]] result<void> remove(traced_process& process, breakpoint_role for_whom,
                                    std::optional<target_address> only = std::nullopt);
  [[nodiscard]] result<void> remove_all(traced_process& process);
  void remove_software(traced_process& process);
  [[nodiscard]] result<void> insert_watch(traced_process& process, target_address address, std::uint64_t length);
  static void remove_watch(traced_process& process, target_address address);

  /// The process has stopped: removes everything that arms a breakpoint.
  void disarm(traced_process& process);
  /// Removes only the traps. A trap that cannot be overwritten stays, and the error says so.
  [[nodiscard]] result<void> lift_software(traced_process& process);
  /// The process is about to run: writes its traps into the code again. Not called while a child of vfork runs in its
  /// memory.
  void put_back_software(traced_process& process);
  /// A stopped thread is about to run: sets its debug registers.
  void arm_registers(traced_process& process, traced_thread& thread);
  /// A stopped thread is about to step off a breakpoint: arms only the watchpoints, because the instruction under the
  /// breakpoint can be the watched write.
  void arm_for_step(traced_process& process, traced_thread& thread);

 private:
  [[nodiscard]] result<void> insert_hardware(traced_process& process, const arch::hardware_trigger& trigger);
  /// Returns the bytes that the trap replaces.
  [[nodiscard]] result<std::vector<std::byte>> insert_software(traced_process& process, target_address address);
  [[nodiscard]] result<void> take_out(traced_process& process, breakpoint& one);
  static void free_register(traced_process& process, const arch::hardware_trigger& trigger);

  kernel_access kernel_;
  const tracee_table& tracees_;
  event_queue& events_;
};

}  // namespace mpiacq::tracing
