// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_parts.hpp"
#include "stacks_report.hpp"

namespace mpiacq::tool {

/// A `mpiacq.stacks/1` document.
[[nodiscard]] json json_of_stacks(const stacks_snapshot& snapshot);

}  // namespace mpiacq::tool
