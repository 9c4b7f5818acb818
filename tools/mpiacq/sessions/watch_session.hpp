// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/signals.hpp"
#include "mpiacq/base/error.hpp"
#include "options/watch_options.hpp"
#include "sessions/job_watcher.hpp"

namespace mpiacq::tool {

/// Watches a job that runs already, until its ranks have ended, a signal comes, or it was treated as the user wishes
/// after a report. Returns the exit status.
[[nodiscard]] result<int> watch_running_job(const watch_options& options, job_watcher& watcher,
                                            signal_catcher& signals);

}  // namespace mpiacq::tool
