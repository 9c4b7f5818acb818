// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "report/queues_report.hpp"
#include "report/rank_hosts.hpp"

namespace mpiacq::tool {

/// Deadlocks first, then which ranks wait for which. Ranks that wait in the same way form one line.
[[nodiscard]] std::string waits_text(const queue_waits& waits, const rank_names& names, const rank_hosts& hosts,
                                     bool colour);
using text_row = std::vector<std::string>;
/// The bound for the rows of a table that ranks share; a longer table is unreadable.
inline constexpr std::size_t rows_shown = 48;

/// The pending operations as a table. Each rank's are in the library's order; ranks share a row where they agree.
[[nodiscard]] std::string operations_text(const queues_snapshot& snapshot);
/// All data of the queue library about each rank's communicators and operations, in the library's order.
void write_every_operation(report_stream& out, const queues_snapshot& snapshot);

/// For ranks whose queues are unknown: the call of each, and the ranks that are missing from a collective call.
/// `has_waits`: the arguments of the calls have shown waits, which say more.
[[nodiscard]] std::string calls_text(const group_queues& seen, const rank_names& names, bool has_waits);
/// "in MPI_Recv at solver.c:88", "in no MPI call, at solver.c:88", "it has ended"; printable.
[[nodiscard]] std::string doing_text(const rank_call& call);
/// Lists the call of each rank and its place. The report has this list if no rank is known to wait.
[[nodiscard]] std::string all_calls_text(const group_queues& seen, const rank_names& names);
/// The ranks that a signal has stopped, with their places; empty if there are none.
[[nodiscard]] std::string stopped_text(const group_queues& seen, const rank_names& names);
/// The ranks that are elsewhere than most; empty if there are none.
[[nodiscard]] std::string odd_text(const group_queues& seen, const rank_names& names);
/// The libraries and message layers that are the sources of the report.
[[nodiscard]] std::string libraries_text(const queues_snapshot& snapshot);
/// Each problem once, with the ranks that have it.
[[nodiscard]] std::string problems_text(const queues_snapshot& snapshot);
/// The doubts about the waits.
[[nodiscard]] std::string doubts_text(const queue_waits& waits);

}  // namespace mpiacq::tool
