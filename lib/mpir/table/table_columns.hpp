// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "columns/column.hpp"
#include "columns/table_strings.hpp"
#include "mpiacq/job/process_table.hpp"

namespace mpiacq {

struct process_table_columns {
  column<std::uint32_t> hosts;        // string numbers
  column<std::uint32_t> executables;  // string numbers
  column<std::int32_t> narrow_pids;   // the width of the target's field decides which of the two is used
  column<std::int64_t> wide_pids;
  table_strings strings;
  std::vector<field_problem> problems;
  std::size_t problem_count = 0;
  std::optional<error> shortfall;
  std::uint64_t claimed = 0;
  structure_layout layout;
  rank_names names;
  std::vector<job_world> worlds;
  std::optional<user_id> user;
};

/// Makes a table from its columns.
class process_table_access {
 public:
  static process_table table_of(std::unique_ptr<process_table_columns> columns) {
    return process_table(std::move(columns));
  }
};

}  // namespace mpiacq
