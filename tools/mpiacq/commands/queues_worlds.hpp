// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::tool {

/// The reports of a job of several worlds, for `find_waits`: a library knows a rank's peers by their ranks in its own
/// world, and each world has a rank 0. Here they are the `entries` of the job's table. Peers of other worlds are not
/// placed, and communicators of different worlds, whose library does not say who is in them, are never one.
[[nodiscard]] std::vector<rank_queues> by_entries(std::span<const rank_queues> ranks, const rank_names& names,
                                                  std::size_t entries);

}  // namespace mpiacq::tool
