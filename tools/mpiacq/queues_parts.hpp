// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/queue_waits.hpp"
#include "mpiacq/rank_names.hpp"
#include "rank_hosts.hpp"

namespace mpiacq::tool {

/// Deadlocks first, then who waits for whom: ranks that wait alike as one.
[[nodiscard]] std::string waits_text(const queue_waits& waits, const rank_names& names, const rank_hosts& hosts,
                                     bool colour);
/// What was not known.
[[nodiscard]] std::string doubts_text(const queue_waits& waits);

}  // namespace mpiacq::tool
