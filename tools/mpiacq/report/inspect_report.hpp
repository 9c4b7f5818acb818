// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/mpir/mpir_values.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

/// The findings of `inspect`.
struct inspected {
  inspection program;
  std::vector<mpir::variable_value> values;  ///< of a process: the contents of its variables
};

/// As text.
[[nodiscard]] std::string inspect_text(const inspected& seen);
/// A `mpiacq.inspect/1` document.
[[nodiscard]] json inspect_json(const inspected& seen);

}  // namespace mpiacq::tool
