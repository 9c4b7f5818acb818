// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "parts/trap_control.hpp"
#include "starter/followed_process.hpp"

namespace mpiacq {

/// How long what is written into a process stays there.
enum class write_duration : std::uint8_t {
  while_controlled,  ///< it goes back by itself if this program dies, as soon as that does no harm
  for_good,          ///< the process is let go, and this is what stays in it
};

/// Writes, breakpoints and watchpoints that an interface asks for, put into stopped processes.
class process_patches {
 public:
  /// `is_launched`: the starter is a child of this job, and not attached to.
  process_patches(trap_control& traps, breakpoint_kind kind, bool is_launched)
      : traps_(traps), kind_(kind), is_launched_(is_launched) {}

  [[nodiscard]] result<void> apply(followed_process& process, const mpir::plant_breakpoint& what);
  [[nodiscard]] result<void> apply(followed_process& process, const mpir::lift_breakpoint& what);
  /// A processor without watchpoints is no error: the breakpoint is enough where MPIR_Breakpoint is called.
  [[nodiscard]] result<void> apply(followed_process& process, const mpir::watch_variable& what);
  [[nodiscard]] result<void> apply(followed_process& process, const mpir::unwatch_variable& what);
  [[nodiscard]] result<void> write(followed_process& process, const write_bytes& what, write_duration duration);

  /// The table of a launched starter has been reported: from now on MPIR_being_debugged goes back to 0 if this program
  /// dies. Before, the variable has to stay 1, whatever becomes of this program: Open MPI's ranks wait in MPI_Init for
  /// a message that mpirun sends only while it is 1.
  [[nodiscard]] result<void> table_is_reported(followed_process& process);

 private:
  trap_control& traps_;
  breakpoint_kind kind_;
  bool is_launched_;
};

}  // namespace mpiacq
