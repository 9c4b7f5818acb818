// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq {

/// How ranks are let go that wait at a gate in their MPI initialisation: at MPIR_debug_gate (MPIR 1.1, 9.8; chapter 8,
/// step 18), or for MPI2DD_FLAG_GATE.
struct gate_options {
  rank_selection ranks;
  interface_kind interface = interface_kind::mpir;
  /// A rank without a gate may not have loaded its program yet: it is looked at again for so long.
  std::chrono::milliseconds limit{3000};
  /// A descriptor of the caller's: once it can be read, no rank is looked at again. -1: none.
  int stop = -1;
};

}  // namespace mpiacq
