// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "rank_claims.hpp"

namespace mpiacq {

/// The process of this node that started these ranks: the launcher's program above the lowest rank; its daemon, if its
/// program runs on another node; else the parent that all of them have in common, for a launcher that is nobody's known
/// program. Null if there is none. Its user is the ranks' user, or root, as for the daemons of resource managers.
[[nodiscard]] std::shared_ptr<const process_facts> starter_of(node_processes& node, std::span<const rank_claim> claims);

}  // namespace mpiacq
