// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/command_line.hpp"

namespace mpiacq::tool {

/// `attach --core FILE`: reports the job as the starter knew it when it died. Gives the exit status: 125 also where the
/// core holds no process table.
[[nodiscard]] int run_core(const core_report_options& options);

}  // namespace mpiacq::tool
