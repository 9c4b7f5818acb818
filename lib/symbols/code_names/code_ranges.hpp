// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "code_names/code_mappings.hpp"
#include "mpiacq/process/process_maps.hpp"

namespace mpiacq::elf {

/// The executable mappings in the text of /proc/PID/maps.
[[nodiscard]] std::vector<code_range> code_ranges_in(const code_mappings& mappings);
/// The executable mappings by PROCMAP_QUERY on an open /proc/PID/maps. Empty: the kernel lacks this call, or refuses
/// it.
[[nodiscard]] std::optional<std::vector<code_range>> query_code_ranges(int maps);

}  // namespace mpiacq::elf
