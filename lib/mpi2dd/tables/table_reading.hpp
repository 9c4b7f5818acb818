// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"

namespace mpiacq::mpi2dd {

/// Opens a process and reads it. Tables that changed during the reading are read again. The function does not use the
/// graph, so any thread may call it. No exception leaves it.
[[nodiscard]] process_account read_process(const process_request& asked, const opener& open,
                                           const walk_limits& limits) noexcept;

}  // namespace mpiacq::mpi2dd
