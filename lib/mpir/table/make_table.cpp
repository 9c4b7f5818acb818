// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes process tables from values that were read elsewhere, such as those of an MPI2DD job with many tables.
#include <utility>

#include "mpiacq/job/process_table.hpp"
#include "table/procdesc.hpp"
#include "table/table_columns.hpp"

namespace mpiacq {

namespace {

/// Numbers the strings of one column, and appends new strings to the list.
class string_column {
 public:
  explicit string_column(std::vector<std::string_view>& texts) : texts_(texts) {}
  /// Finds runs of equal strings. The receiver of the texts finds the other duplicates.
  std::uint32_t number(const std::optional<std::string_view>& text) {
    if (!text) return process_table::no_string;
    if (last_ != process_table::no_string && texts_[last_] == *text) return last_;
    last_ = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back(*text);
    return last_;
  }

 private:
  std::vector<std::string_view>& texts_;
  std::uint32_t last_ = process_table::no_string;
};

void note(process_table_columns& table, field_problem problem) {
  ++table.problem_count;
  if (table.problems.size() < table_limits{}.max_problems) table.problems.push_back(problem);
}

}  // namespace

process_table make_process_table(std::span<const table_row> rows, std::vector<job_world> worlds,
                                 structure_layout layout) {
  auto made = std::make_unique<process_table_columns>();
  std::vector<std::string_view> texts;
  string_column hosts(texts), executables(texts);
  std::vector<std::uint32_t> world_numbers;
  std::vector<rank_number> ranks;
  for (const table_row& row : rows) {
    const entry_index entry{ranks.size()};
    made->hosts.push_back(hosts.number(row.host));
    made->executables.push_back(executables.number(row.executable));
    made->wide_pids.push_back(row.pid.value());
    world_numbers.push_back(row.world);
    ranks.push_back(row.rank);
    if (!row.host) note(*made, {entry, descriptor_field::host_name, field_fault::null_pointer, {}, {}, {}});
    if (!row.executable) note(*made, {entry, descriptor_field::executable_name, field_fault::null_pointer, {}, {}, {}});
    if (!is_plausible_pid(row.pid.value())) {
      note(*made, {entry, descriptor_field::pid, field_fault::implausible_pid, {}, {}, row.pid});
    }
  }
  made->strings.take(texts);
  made->strings.renumber({&made->hosts, &made->executables});
  made->names = rank_names(std::move(world_numbers), std::move(ranks));
  made->worlds = std::move(worlds);
  made->claimed = rows.size();
  made->layout = std::move(layout);
  return process_table_access::table_of(std::move(made));
}

}  // namespace mpiacq
