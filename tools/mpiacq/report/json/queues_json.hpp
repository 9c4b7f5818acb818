// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json/json_writer.hpp"
#include "report/queues_report.hpp"

namespace mpiacq::tool {

/// A `mpiacq.queues/1` document.
void write_queues(json_writer& out, const queues_snapshot& snapshot);

}  // namespace mpiacq::tool
