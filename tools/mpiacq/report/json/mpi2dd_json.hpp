// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

/// The info block of a process, without its tables.
[[nodiscard]] json json_of(const mpi2dd::process_info& info);

}  // namespace mpiacq::tool
