// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "rank_claims.hpp"

namespace mpiacq {

/// The process of this node that started these ranks. It is the launcher's program above the lowest rank, or the
/// launcher's daemon if that program runs on another node. For an unknown launcher it is the parent that all ranks have
/// in common. Null if there is none. Its user is the ranks' user, or root, as for the daemons of resource managers.
[[nodiscard]] std::shared_ptr<const process_facts> starter_of(node_processes& node, std::span<const rank_claim> claims);

}  // namespace mpiacq
