// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"

namespace mpiacq::tool {

/// "4 processes on 2 hosts, job 17 step 0"
[[nodiscard]] std::string extent_text(const process_table& table, const mpir::job_facts& facts);

/// The table process by process, or a large one host by host, and the source of its layout.
[[nodiscard]] std::string table_text(const process_table& table, const std::vector<rank_state>& states);

/// The names of the numbered worlds, a line for each.
[[nodiscard]] std::string world_lines(std::span<const job_world> worlds);
/// The flags of the starter, which concern it and all its ranks (MPIR 1.1, 7.1, 9.10 to 9.14), a line for each.
/// `is_spawned`: the ranks have just been started. Later, the starter does not say where they are.
[[nodiscard]] std::string facts_text(const mpir::job_facts& facts, bool is_spawned);
/// Ranks that have not entered main, or that a tool should show in main; empty if there are none. `is_spawned`: as
/// above.
[[nodiscard]] std::string facts_text(const process_table& table, std::span<const rank_facts> facts, bool is_spawned);

/// A line for each problem of the job, and for the first problems of the table, if there is one.
[[nodiscard]] std::string problem_text(std::span<const error> problems, const process_table* table = nullptr);

}  // namespace mpiacq::tool
