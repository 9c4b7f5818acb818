// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Accounts of MPI2DD processes in the form in which they are sent: plain values, with the columns of tables as runs of
// numbers, because pids and ranks are mostly consecutive, and hosts mostly equal. Only the front end unfolds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"

namespace mpiacq::agents {

/// First number, step and count of each run.
using column_part = std::vector<std::int64_t>;
struct spawn_columns {
  column_part worlds, ranks, sequences;
};
struct process_table_part {
  column_part hosts, executables, worlds, spawns, pids, ranks;
  spawn_columns spawned_by;
  std::vector<std::string> strings;
  mpi2dd::table_facts facts;
};
struct directory_table_part {
  column_part hosts, executables, pids;
  std::vector<std::string> strings;
  mpi2dd::table_facts facts;
  mpi2dd::entry_stride stride;
};

template <class Table>
struct table_reading_part {
  std::optional<Table> entries;
  std::optional<error> failure;
};
struct account_part {
  mpi2dd::visit_state state = mpi2dd::visit_state::unreachable;
  std::optional<error> failure;
  std::optional<mpi2dd::process_info> info;
  table_reading_part<process_table_part> processes;
  table_reading_part<directory_table_part> directories;
  table_reading_part<directory_table_part> metadirectories;
  unsigned rereads = 0;
  bool unsettled = false;
  std::vector<std::string> own_names;
};
[[nodiscard]] account_part part_of(const mpi2dd::process_account& said);

/// Unfolds accounts. An account that is wrong becomes a failure. All accounts together may have `most_numbers` numbers,
/// because a few bytes can describe a very long run.
class account_maker {
 public:
  static constexpr std::uint64_t most_numbers = std::uint64_t{1} << 26U;
  [[nodiscard]] mpi2dd::process_account make(account_part part);

 private:
  std::uint64_t left_ = most_numbers;
};

}  // namespace mpiacq::agents
