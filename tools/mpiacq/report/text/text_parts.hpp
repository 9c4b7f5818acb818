// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts that several text reports share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/process/symbols.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

/// Nearly every line of a report contains untrusted text.
using base::printable;

/// Rows in columns as wide as their widest cell; the last column is not padded. Each line is indented by two.
[[nodiscard]] std::string columns(const std::vector<std::vector<std::string>>& rows);

/// "24 bytes: host_name at 0 (8 bytes), ..."
[[nodiscard]] std::string layout_text(const structure_layout& layout);
/// The source of the layout. `checked`: an inferred layout has been compared with a table.
[[nodiscard]] std::string layout_source_text(const structure_layout& layout, bool checked);

/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point when);

/// "1 process", "4 processes".
[[nodiscard]] std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace mpiacq::tool
