// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Communication libraries other than MPI, in which ranks of machine learning programs wait.
#pragma once

#include <string_view>

#include "mpiacq/queues/mpi_call.hpp"

namespace mpiacq::waits {

/// The call of such a library, by the name of a function on a stack: "ncclAllReduce", "c10d::Work::wait". `none` for
/// any other function. Their arguments are not read.
[[nodiscard]] rank_activity activity_in_other_library(std::string_view function);

}  // namespace mpiacq::waits
