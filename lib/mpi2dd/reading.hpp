// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/mpi2dd_graph.hpp"

namespace mpiacq::mpi2dd {

/// What is asked of one process.
struct request {
  std::string host;
  process_id pid;
  std::string executable;
  table_selection tables;
};

template <class Entries>
struct table_reading {
  std::optional<Entries> entries;
  std::optional<error> failure;
};

/// What one process said. It knows nothing of the graph, so that it can be had on any thread.
struct reading {
  visit_state state = visit_state::unreachable;
  std::optional<error> failure;
  std::optional<process_info> info;
  table_reading<process_entries> processes;
  table_reading<directory_entries> directories;
  table_reading<directory_entries> metadirectories;
  unsigned rereads = 0;
  bool unsettled = false;
};

/// Opens a process and reads it; tables that changed meanwhile again. No exception leaves it.
[[nodiscard]] reading read_process(const request& asked, const opener& open, const walk_limits& limits) noexcept;

}  // namespace mpiacq::mpi2dd
