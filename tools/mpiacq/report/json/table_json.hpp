// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "report/json/json_parts.hpp"
#include "report/json/json_writer.hpp"

namespace mpiacq::tool {

/// A table, and the current state of its entries on this node.
struct seen_table {
  const process_table& table;
  const std::vector<rank_state>& states;
  const entry_locality& locality;
  std::span<const rank_facts> facts = {};  ///< empty: there are no facts of single ranks
};

/// The comm_world_id of an entry; null with MPIR, and if no known world has the entry.
[[nodiscard]] json world_id(const process_table& table, entry_index entry);
/// The `worlds` of a `mpiacq.job/1` document, by number.
[[nodiscard]] json json_of_worlds(std::span<const job_world> worlds);
/// The `starter` of the documents of `stacks` and `queues`; null for a job whose starter is not on this node.
[[nodiscard]] json json_of(const starter_facts& starter);
/// The entry of a process of this node; empty if no entry lists it.
[[nodiscard]] std::optional<entry_index> entry_of(const process_table* table, process_id process);

/// The `processes` of a `mpiacq.job/1` document.
void write_processes(json_writer& out, const seen_table& seen);

}  // namespace mpiacq::tool
