// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "columns/column.hpp"
#include "columns/table_strings.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"

namespace mpiacq::mpi2dd {

struct process_columns {
  column<std::uint32_t> hosts;
  column<std::uint32_t> executables;
  column<std::uint32_t> worlds;
  column<std::uint32_t> spawns;
  column<std::int32_t> pids;
  column<std::int32_t> ranks;
  column<spawn_description> spawn_descriptions;
  table_strings strings;
  table_facts facts;
};

struct directory_columns {
  column<std::uint32_t> hosts;
  column<std::uint32_t> executables;
  column<std::int32_t> pids;
  table_strings strings;
  table_facts facts;
  entry_stride stride;
};

/// Makes tables from their columns.
class table_access {
 public:
  static process_entries table_of(std::unique_ptr<process_columns> columns) {
    return process_entries(std::move(columns));
  }
  static directory_entries table_of(std::unique_ptr<directory_columns> columns) {
    return directory_entries(std::move(columns));
  }
  /// Replaces each pid by what `here` says of its host and itself.
  template <class Entries, class Here>
  static void translate(Entries& entries, Here here) {
    auto& columns = *entries.columns_;
    for (std::size_t i = 0; i < columns.pids.size(); ++i) {
      if (columns.pids[i] <= 0 || columns.hosts[i] == unreadable_string) continue;
      const bool has_host = columns.hosts[i] != no_string;
      columns.pids[i] = here(has_host ? entries.string(columns.hosts[i]) : std::string_view{}, columns.pids[i]);
    }
  }
};

/// Records problems up to the limit, and counts all of them.
class problem_notes {
 public:
  problem_notes(table_facts& facts, const table_limits& limits) : facts_(facts), limits_(limits) {}
  void add(const entry_problem& problem) {
    ++facts_.problem_count;
    if (facts_.problems.size() < limits_.max_problems) facts_.problems.push_back(problem);
  }
  /// Records a pointer to an unreadable string, and sets the number to `unreadable_string`. Returns whether the string
  /// was unreadable.
  bool judge_string(table_strings& strings, std::span<const target_address> addresses, std::uint32_t entry,
                    table_field field, std::uint32_t& id);

 private:
  table_facts& facts_;
  const table_limits& limits_;
};

/// The offsets of the fields of MPI2DD_PROCDESC: four addresses, pid, rank.
struct process_layout {
  std::size_t size = 0;
  std::size_t host_name = 0;
  std::size_t executable_name = 0;
  std::size_t spawn_desc = 0;
  std::size_t comm_world_id = 0;
  std::size_t pid = 0;
  std::size_t rank = 0;
};
constexpr process_layout layout_of_process(std::size_t pointer) {
  return {4 * pointer + 8, 0, pointer, 2 * pointer, 3 * pointer, 4 * pointer, 4 * pointer + 4};
}

/// MPI2DD_SPAWNDESC: an address, parent_rank, sequence.
constexpr std::size_t spawn_size(std::size_t pointer) {
  return pointer + 8;
}

/// MPI2DD_DIRECTORYENTRY: host_name, executable_name, pid.
constexpr std::size_t packed_stride(std::size_t pointer) {
  return 2 * pointer + 4;
}
constexpr std::size_t compiled_stride(std::size_t pointer) {
  return pointer == 8 ? 24 : 12;
}

}  // namespace mpiacq::mpi2dd
