// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// More nodes than any system has.
inline constexpr std::size_t most_listed_nodes = std::size_t{1} << 17;

/// The names in a list of nodes as Slurm writes it (scontrol(1), "hostlist"): "n[1-3,07],m4,r[1-2]c[01-16]". A list
/// comes from a user's process: it can be short and describe more names than there is memory, so that the names are
/// counted before they are made. Errors: bad_format (also for what is no name of a host), limit (more names than
/// `most`).
[[nodiscard]] result<std::vector<std::string>> expand_node_list(std::string_view list,
                                                                std::size_t most = most_listed_nodes);

}  // namespace mpiacq
