// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json/json_writer.hpp"
#include "report/queues_report.hpp"

namespace mpiacq::tool {

/// A `mpiacq.queues/1` document.
void write_queues(json_writer& out, const queues_snapshot& snapshot);

/// The array `waits` of that document: which rank waits for which.
void write_wait_list(json_writer& out, const queues_snapshot& snapshot);
/// Its array `deadlocks`.
[[nodiscard]] json json_of_deadlocks(const queues_snapshot& snapshot);

}  // namespace mpiacq::tool
