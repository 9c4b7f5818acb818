// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engine/tracee.hpp"
#include "kernel/ptrace_call.hpp"

namespace mpiacq::tracing {

/// Says what a SIGTRAP of a thread means: a hit is noted in the process, to be reported once all threads are stopped;
/// the program's own trap becomes the signal that the thread is given when it goes on.
class traps {
 public:
  explicit traps(const ptrace_calls& calls) : calls_(calls) {}

  void on_trap(traced_process& process, traced_thread& thread) const;
  /// A thread that was making a step off a breakpoint has a SIGTRAP. False where the thread is being killed: its end is
  /// still to come.
  [[nodiscard]] bool on_trap_in_step(traced_process& process, traced_thread& thread) const;
  /// The first hit that is noted, without those that are of no interest any more because the thread has ended or the
  /// breakpoint was taken out since. Empty: none.
  [[nodiscard]] static std::optional<hit> take_hit(traced_process& process);

 private:
  enum class kinds : std::uint8_t { all, writes };
  void note_registers(traced_process& process, traced_thread& thread, kinds which) const;
  void note_hit(traced_process& process, traced_thread& thread, target_address at) const;

  const ptrace_calls& calls_;
};

}  // namespace mpiacq::tracing
