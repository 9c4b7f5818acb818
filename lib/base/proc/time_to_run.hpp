// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// Waits until each of these processes of this node has had the chance to go on, at most for `most`, and says for each
/// whether it had. It had if its first thread has used a processor for `time` since the call, or if it sleeps: a thread
/// that was released from a stop gets there only by running. On a kernel that does not count the time
/// (without CONFIG_SCHED_INFO), each process is taken for one that has run.
[[nodiscard]] std::vector<bool> have_run(std::span<const process_id> processes, clock::duration time,
                                         clock::duration most);

}  // namespace mpiacq
