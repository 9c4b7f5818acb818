// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/base/error.hpp"
#include "options/job_command_options.hpp"

namespace mpiacq::tool {

/// `attach --core FILE`: reports the job as the starter knew it when the core file was made. Returns the exit status,
/// which is 125 if the core file contains no process table.
[[nodiscard]] result<int> run_core(const attach_command_options& options);

}  // namespace mpiacq::tool
