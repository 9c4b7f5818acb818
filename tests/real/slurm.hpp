// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's srun.
#pragma once

#include "real_job.hpp"

namespace mpiacq::test {

/// The status of the private cluster's script if there can be no cluster.
inline constexpr int cluster_cannot_run = 77;

/// Whether srun announces its event without calling its MPIR_Breakpoint: its own code sets MPIR_debug_state, and none
/// of it calls the function. Link-time optimisation has put the function's body in the place of the call then
/// (Ubuntu 24.04), nothing ever comes to it, and no tool can be told of the event. (Debian 12's srun leaves both to a
/// plugin.)
inline bool srun_has_inlined_its_breakpoint() {
  const auto looked = run_command({"sh", "-c",
                                   "code=$(objdump -d --no-show-raw-insn \"$(command -v srun)\") && "
                                   "echo \"$code\" | grep -q '<MPIR_debug_state' && "
                                   "! echo \"$code\" | grep -qE '(call|jmp|lea) .*<MPIR_Breakpoint(@[^+>]*)?>'"});
  return looked.exit_code == 0;
}
inline constexpr const char* srun_without_breakpoint =
    "this srun never calls its MPIR_Breakpoint: link-time optimisation has inlined it";

}  // namespace mpiacq::test
