// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/signals.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "options/rank_options.hpp"
#include "options/watch_options.hpp"
#include "report/findings.hpp"
#include "sessions/ranks_look.hpp"

namespace mpiacq::tool {

/// What a report needs of a job, and whether all of it was read.
struct report_look {
  findings found;
  bool rank_failed = false;  ///< a rank could not be read, or not to the end
};

/// Takes the stacks of the ranks, then their queues and waits, and finds the verdict. Shows progress on a terminal.
[[nodiscard]] report_look look_for_report(const ranks_look& look, const queue_request& request, bool all_threads);

/// The same for a job of which ranks have failed; all ranks are held. Queue libraries are not run. Core files go into
/// `folder`.
[[nodiscard]] report_look look_for_crash(const ranks_look& look, const group_ends& ends, core_choice cores,
                                         const std::string& folder);

}  // namespace mpiacq::tool
