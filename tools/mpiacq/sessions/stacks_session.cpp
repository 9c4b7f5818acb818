// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/stacks_session.hpp"

#include <algorithm>

#include "sessions/snapshot_of_job.hpp"

namespace mpiacq::tool {

namespace {

/// The bound for the problems of one rank over all samples.
constexpr std::size_t most_problems = 8;

}  // namespace

stacks_session::stacks_session(std::shared_ptr<rank_group> ranks, const job_description& job,
                               const rank_selection& selection, bool all_threads, bool arguments)
    : ranks_(std::move(ranks)) {
  const process_table& table = *job.processes;
  how_.threads = all_threads ? which_threads::all : which_threads::first;
  how_.arguments = arguments;
  describe_job_in(snapshot_, job, selection);
  snapshot_.samples = 0;
  const rank_set looked_at = entries_of(*ranks_);
  for (const entry_index entry : job.selected(selection)) {
    snapshot_.ranks.push_back(
        {entry, table.pid(entry), std::string(table.host_name(entry).value_or("")), looked_at.contains(entry), 0, {}});
  }
}

/// Rows are in the order of the ranks. There can be as many reasons as ranks, so that the search for one reason's rows
/// must not pass over all rows.
std::vector<stacked_rank*> stacks_session::rows_of(const rank_set& ranks) {
  std::vector<stacked_rank*> rows;
  for (const rank_set::range& range : ranks.ranges()) {
    const auto first = std::lower_bound(snapshot_.ranks.begin(), snapshot_.ranks.end(), entry_index{range.first},
                                        [](const stacked_rank& row, entry_index least) { return row.entry < least; });
    for (auto row = first; row != snapshot_.ranks.end() && row->entry.value() <= range.last; ++row)
      rows.push_back(&*row);
  }
  return rows;
}

void stacks_session::sample() {
  add(ranks_->stacks(how_));
}

void stacks_session::sample_with(const group_stacks& failed) {
  const rank_set others = entries_of(*ranks_).without(failed.taken);
  group_stacks seen = failed;
  seen.refused.clear();  // they are asked once more
  if (!others.empty()) {
    stack_options how = how_;
    how.ranks = rank_selection::parse(others.text()).value_or(rank_selection());
    group_stacks rest = ranks_->stacks(how);
    seen.tree.merge(rest.tree);
    seen.taken.add(rest.taken);
    seen.refused = std::move(rest.refused);
    seen.held_for += rest.held_for;
    seen.problems.insert(seen.problems.end(), rest.problems.begin(), rest.problems.end());
  }
  add(std::move(seen));
}

void stacks_session::add(group_stacks seen) {
  snapshot_.held += seen.held_for;
  snapshot_.problems.insert(snapshot_.problems.end(), seen.problems.begin(), seen.problems.end());
  for (stacked_rank& row : snapshot_.ranks) {
    if (seen.taken.contains(row.entry)) ++row.samples;
  }
  for (const refused_ranks& refused : seen.refused) {
    for (stacked_rank* const row : rows_of(refused.ranks)) {
      if (row->problems.size() < most_problems &&
          (row->problems.empty() || row->problems.back().message != refused.why.message)) {
        row->problems.push_back(refused.why);
      }
    }
  }
  for (rank_mpi_call& call : seen.calls) {
    for (stacked_rank* const row : rows_of(rank_set(call.entry))) row->doing = std::move(call.doing);
  }
  // A sample counts even if no rank could be read.
  snapshot_.tree.add_sample(seen.tree);
  ++snapshot_.samples;
}

bool stacks_session::rank_failed() const {
  return std::any_of(snapshot_.ranks.begin(), snapshot_.ranks.end(),
                     [](const stacked_rank& row) { return row.is_local && row.samples == 0; });
}

}  // namespace mpiacq::tool
