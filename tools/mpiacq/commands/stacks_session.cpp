// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/stacks_session.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "commands/ranks_look.hpp"

namespace mpiacq::tool {

namespace {

/// Of one rank, over all samples.
constexpr std::size_t most_problems = 8;

node_ranks_options options_for(const stacks_request& request) {
  node_ranks_options options;
  options.debug_files = request.debug_files;
  return options;
}

}  // namespace

result<stacks_session> stacks_session::open(starter_facts starter, const process_table& table,
                                            const std::vector<bool>& is_local, const stacks_request& request) {
  return open(node_ranks::create(table, request.ranks, options_for(request)), std::move(starter), table, is_local,
              request);
}

result<stacks_session> stacks_session::open(job& subject, const process_table& table, const std::vector<bool>& is_local,
                                            const stacks_request& request) {
  return open(subject.look_into(request.ranks, options_for(request)), subject.starter(), table, is_local, request);
}

result<stacks_session> stacks_session::open(result<std::unique_ptr<node_ranks>> node, starter_facts starter,
                                            const process_table& table, const std::vector<bool>& is_local,
                                            const stacks_request& request) {
  if (!node) return fail(std::move(node).error());
  stacks_session session;
  session.node_ = std::move(*node);
  session.begin(std::move(starter), table, is_local, request);
  return session;
}

result<stacks_session> stacks_session::open(const job_view& job, const stacks_request& request,
                                            const agents_options& agents) {
  auto nodes = job_ranks::create(*job.processes, request.ranks, {options_for(request), agents});
  if (!nodes) return fail(std::move(nodes).error());
  return over(std::move(*nodes), job.starter, *job.processes, request);
}

stacks_session stacks_session::over(std::shared_ptr<job_ranks> nodes, starter_facts starter, const process_table& table,
                                    const stacks_request& request) {
  stacks_session session;
  session.nodes_ = std::move(nodes);
  session.begin(std::move(starter), table, std::vector<bool>(table.size(), true), request);
  return session;
}

void stacks_session::begin(starter_facts starter, const process_table& table, const std::vector<bool>& is_local,
                           const stacks_request& request) {
  how_.threads = request.all_threads ? which_threads::all : which_threads::first;
  snapshot_.starter = std::move(starter);
  snapshot_.samples = 0;
  snapshot_.names = table.names();
  snapshot_.hosts = rank_hosts(table, request.ranks);
  snapshot_.worlds.assign(table.worlds().begin(), table.worlds().end());
  for (const std::uint32_t rank : table.names().selected(request.ranks, table.size())) {
    snapshot_.ranks.push_back(
        {rank, table.pid(rank), std::string(table.host_name(rank).value_or("")), is_local[rank], 0, {}});
  }
}

/// Rows are in the order of the ranks. There may be as many reasons as ranks, so no reason goes through all rows.
std::vector<stacked_rank*> stacks_session::rows_of(const rank_set& ranks) {
  std::vector<stacked_rank*> rows;
  for (const rank_set::range& range : ranks.ranges()) {
    const auto first = std::lower_bound(snapshot_.ranks.begin(), snapshot_.ranks.end(), range.first,
                                        [](const stacked_rank& row, std::uint32_t least) { return row.rank < least; });
    for (auto row = first; row != snapshot_.ranks.end() && row->rank <= range.last; ++row) rows.push_back(&*row);
  }
  return rows;
}

std::vector<std::uint32_t> stacks_session::take(const job_stacks& seen, call_tree& moment, bool last_try) {
  std::vector<std::uint32_t> busy;
  snapshot_.held += seen.held_for;
  snapshot_.problems.insert(snapshot_.problems.end(), seen.problems.begin(), seen.problems.end());
  moment.merge(seen.tree);
  for (stacked_rank& row : snapshot_.ranks) {
    if (seen.taken.contains(row.rank)) ++row.samples;
  }
  for (const refused_ranks& refused : seen.refused) {
    for (stacked_rank* const row : rows_of(refused.ranks)) {
      if (refused.why.code == error_code::busy && !last_try) {
        busy.push_back(row->rank);
      } else if (row->problems.size() < most_problems &&
                 (row->problems.empty() || row->problems.back().message != refused.why.message)) {
        row->problems.push_back(refused.why);
      }
    }
  }
  return busy;
}

void stacks_session::sample() {
  call_tree moment;
  stack_options how = how_;
  for (int tries = 1;; ++tries) {
    const auto busy = take(nodes_ ? nodes_->stacks(how) : merged(node_->stacks(how)), moment, tries == most_tries);
    if (busy.empty()) break;
    how.ranks = selection_of(busy);
    std::this_thread::sleep_for(between_tries);
  }
  // A moment at which nobody could be seen was one all the same.
  snapshot_.tree.add_sample(moment);
  ++snapshot_.samples;
}

bool stacks_session::rank_failed() const {
  return std::any_of(snapshot_.ranks.begin(), snapshot_.ranks.end(),
                     [](const stacked_rank& row) { return row.is_local && row.samples == 0; });
}

}  // namespace mpiacq::tool
