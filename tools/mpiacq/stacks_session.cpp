// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stacks_session.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "ranks_look.hpp"

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
  session.how_.threads = request.all_threads ? which_threads::all : which_threads::first;
  session.snapshot_.starter = std::move(starter);
  session.snapshot_.samples = 0;
  session.snapshot_.names = table.names();
  session.snapshot_.worlds.assign(table.worlds().begin(), table.worlds().end());
  for (const std::uint32_t rank : table.names().selected(request.ranks, table.size())) {
    session.snapshot_.ranks.push_back(
        {rank, table.pid(rank), std::string(table.host_name(rank).value_or("")), is_local[rank], 0, {}});
  }
  return session;
}

stacked_rank& stacks_session::row_of(std::uint32_t rank) {
  return *std::lower_bound(snapshot_.ranks.begin(), snapshot_.ranks.end(), rank,
                           [](const stacked_rank& row, std::uint32_t r) { return row.rank < r; });
}

std::vector<std::uint32_t> stacks_session::take(const node_stacks& seen, call_tree& moment, bool last_try) {
  std::vector<std::uint32_t> busy;
  snapshot_.held += seen.held_for;
  snapshot_.problems.insert(snapshot_.problems.end(), seen.problems.begin(), seen.problems.end());
  for (const rank_stacks& rank : seen.ranks) {
    stacked_rank& row = row_of(rank.rank);
    if (rank.taken) {
      ++row.samples;
      for (const thread_stack& stack : rank.threads) moment.add(rank.rank, stack);
    } else if (rank.taken.error().code == error_code::busy && !last_try) {
      busy.push_back(rank.rank);
    } else if (row.problems.size() < most_problems &&
               (row.problems.empty() || row.problems.back().message != rank.taken.error().message)) {
      row.problems.push_back(rank.taken.error());
    }
  }
  return busy;
}

void stacks_session::sample() {
  call_tree moment;
  stack_options how = how_;
  for (int tries = 1;; ++tries) {
    const auto busy = take(node_->stacks(how), moment, tries == most_tries);
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
