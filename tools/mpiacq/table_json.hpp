// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "json_parts.hpp"
#include "mpiacq/job.hpp"

namespace mpiacq::tool {

/// A table, and what its entries are on this node now.
struct seen_table {
  const process_table& table;
  std::vector<rank_state> states;
  std::vector<bool> is_local;
};

/// The `processes` of a `mpiacq.job/1` document.
[[nodiscard]] json json_of_processes(const seen_table& seen);

}  // namespace mpiacq::tool
