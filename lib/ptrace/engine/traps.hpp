// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engine/tracee.hpp"
#include "kernel/ptrace_call.hpp"

namespace mpiacq::tracing {

/// Interprets a SIGTRAP of a thread. A hit is recorded in the process, and reported when all threads are stopped. The
/// program's own trap is passed to the thread as a signal when it continues.
class traps {
 public:
  explicit traps(const ptrace_calls& calls) : calls_(calls) {}

  void on_trap(traced_process& process, traced_thread& thread) const;
  /// Handles a SIGTRAP of a thread that was stepping off a breakpoint. False if the thread is being killed: its end
  /// will be reported.
  [[nodiscard]] bool on_trap_in_step(traced_process& process, traced_thread& thread) const;
  /// Removes and returns the first recorded hit. Skips hits whose thread has ended or whose breakpoint was removed
  /// since. Empty: none.
  [[nodiscard]] static std::optional<hit> take_hit(traced_process& process);

 private:
  enum class kinds : std::uint8_t { all, writes };
  void note_registers(traced_process& process, traced_thread& thread, kinds which) const;
  void note_hit(traced_process& process, traced_thread& thread, target_address at) const;

  const ptrace_calls& calls_;
};

}  // namespace mpiacq::tracing
