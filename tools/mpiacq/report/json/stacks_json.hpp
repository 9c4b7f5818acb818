// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json/json_writer.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

/// A `mpiacq.stacks/1` document.
void write_stacks(json_writer& out, const stacks_snapshot& snapshot);

}  // namespace mpiacq::tool
