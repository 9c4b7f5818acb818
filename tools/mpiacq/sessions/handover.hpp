// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq::tool {

/// A shell line that starts one gdb with each of these processes as an inferior, all stopped.
[[nodiscard]] std::string gdb_line(std::span<const process_id> ranks);
/// The same for lldb, with a target for each process.
[[nodiscard]] std::string lldb_line(std::span<const process_id> ranks);

/// The selected ranks of this node that --then stop leaves stopped.
[[nodiscard]] std::vector<process_id> ranks_handed_over(const job& subject, const rank_selection& selected);

/// How another tool takes over the stopped job, and how the job continues.
[[nodiscard]] std::string left_stopped(const job& subject, const std::vector<process_id>& ranks);

}  // namespace mpiacq::tool
