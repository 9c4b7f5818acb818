// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiacq/check/check.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

/// A line for each clause, and the counts. `colour`: verdicts in colour, for a terminal.
[[nodiscard]] std::string check_text(const check::observations& seen, const std::vector<check::judgement>& verdicts,
                                     bool colour);
/// A `mpiacq.check/1` document.
[[nodiscard]] json check_json(const check::observations& seen, const std::vector<check::judgement>& verdicts);

}  // namespace mpiacq::tool
