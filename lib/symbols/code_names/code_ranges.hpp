// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "code_names/code_mappings.hpp"
#include "mpiacq/process/process_maps.hpp"

namespace mpiacq::elf {

/// Those in the text of /proc/PID/maps.
[[nodiscard]] std::vector<code_range> code_ranges_in(const code_mappings& mappings);
/// By PROCMAP_QUERY, of an open /proc/PID/maps. Empty: the kernel does not know it, or refuses.
[[nodiscard]] std::optional<std::vector<code_range>> query_code_ranges(int maps);

}  // namespace mpiacq::elf
