// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_parts.hpp"
#include "queues_report.hpp"

namespace mpiacq::tool {

/// The document of `queues_json`.
[[nodiscard]] json json_of_queues(const queues_snapshot& snapshot);

}  // namespace mpiacq::tool
