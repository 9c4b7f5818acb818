// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "messages.hpp"

namespace mpiacq::agents {

/// Whether a host of a process table is the node of these names: by what it was started as, by its name in Slurm, by
/// its host name with or without a domain, or by one of its addresses in any spelling.
[[nodiscard]] bool is_called(const node_names& node, std::string_view host);

}  // namespace mpiacq::agents
