// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "mpiacq/base/ids.hpp"
#include "options/option_parts.hpp"
#include "options/report_options.hpp"

namespace mpiacq::tool {

/// A process of the job that was named on the command line, or of the only job on this node. Empty: there is none, or
/// there are several; the reason, or the list of jobs, has been printed as a complaint.
[[nodiscard]] std::optional<process_id> job_meant(const std::optional<job_operand>& named,
                                                  const report_options& report);

}  // namespace mpiacq::tool
