// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/queues_session.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "commands/agents_choice.hpp"
#include "commands/queues_worlds.hpp"
#include "commands/ranks_look.hpp"
#include "commands/session_wait.hpp"
#include "mpiacq/job/job_view.hpp"

namespace mpiacq::tool {

namespace {

/// Between two looks: long enough for a message to come and for whoever waited for it to go on.
constexpr std::chrono::milliseconds between_samples{20};
constexpr int samples_between_looks = 8;

/// Puts what a second try has given in its place.
void put_into(node_queues& all, node_queues&& some) {
  for (std::size_t i = 0; i < some.ranks.size(); ++i) {
    const auto at = std::lower_bound(all.ranks.begin(), all.ranks.end(), some.ranks[i].rank,
                                     [](const rank_queues& row, std::uint32_t rank) { return row.rank < rank; });
    if (at == all.ranks.end() || at->rank != some.ranks[i].rank) continue;
    const auto place = static_cast<std::size_t>(at - all.ranks.begin());
    *at = std::move(some.ranks[i]);
    all.doing[place] = std::move(some.doing[i]);
    all.pml[place] = std::move(some.pml[i]);
  }
  all.held_for += some.held_for;
  all.stopped = all.stopped || some.stopped;
  std::move(some.notes.begin(), some.notes.end(), std::back_inserter(all.notes));
  std::move(some.problems.begin(), some.problems.end(), std::back_inserter(all.problems));
}

std::vector<std::uint32_t> busy_ones(const node_queues& seen) {
  std::vector<std::uint32_t> busy;
  for (const rank_queues& rank : seen.ranks) {
    if (!rank.report && rank.report.error().code == error_code::busy) busy.push_back(rank.rank);
  }
  return busy;
}

bool any_is_certain(const std::vector<deadlock>& deadlocks) {
  return std::any_of(deadlocks.begin(), deadlocks.end(), [](const deadlock& found) { return found.certain; });
}

node_ranks_options options_for(const debug_file_search& search) {
  node_ranks_options options;
  options.debug_files = search;
  return options;
}

}  // namespace

std::string_view outcome_of(const rank_queues& rank) {
  if (rank.report) return is_whole(rank) ? "complete" : "incomplete";
  switch (rank.report.error().code) {
    case error_code::process_gone:
      return "gone";
    case error_code::permission:
      return "not-permitted";
    case error_code::busy:
      return "busy";
    default:
      return "failed";
  }
}

result<queues_session> queues_session::open(starter_facts starter, const process_table& table,
                                            const std::vector<bool>& is_local, const rank_selection& ranks,
                                            const queue_request& request, const debug_file_search& search, int stop) {
  return open(node_ranks::create(table, ranks, options_for(search)), std::move(starter), table, is_local, ranks,
              request, search, stop);
}

result<queues_session> queues_session::open(job& subject, const process_table& table, const std::vector<bool>& is_local,
                                            const rank_selection& ranks, const queue_request& request,
                                            const debug_file_search& search, int stop) {
  return open(subject.look_into(ranks, options_for(search)), subject.starter(), table, is_local, ranks, request, search,
              stop);
}

result<queues_session> queues_session::open(result<std::unique_ptr<node_ranks>> node, starter_facts starter,
                                            const process_table& table, const std::vector<bool>& is_local,
                                            const rank_selection& ranks, const queue_request& request,
                                            const debug_file_search& search, int stop) {
  if (!node) return fail(std::move(node).error());
  queues_session session;
  session.node_ = std::move(*node);
  session.begin(std::move(starter), table, ranks, request, search, stop);
  for (const std::uint32_t rank : table.names().selected(ranks, table.size())) {
    if (!is_local[rank]) session.snapshot_.remote.add(rank);
  }
  return session;
}

result<queues_session> queues_session::open(const job_view& job, const rank_selection& ranks,
                                            const queue_request& request, const debug_file_search& search,
                                            const agents_options& agents) {
  auto nodes = job_ranks::create(*job.processes, ranks, {options_for(search), agents});
  if (!nodes) return fail(std::move(nodes).error());
  return over(std::move(*nodes), job.starter, *job.processes, ranks, request, search, agents.stop);
}

queues_session queues_session::over(std::shared_ptr<job_ranks> nodes, starter_facts starter, const process_table& table,
                                    const rank_selection& ranks, const queue_request& request,
                                    const debug_file_search& search, int stop) {
  queues_session session;
  session.nodes_ = std::move(nodes);
  session.begin(std::move(starter), table, ranks, request, search, stop);
  return session;
}

void queues_session::begin(starter_facts starter, const process_table& table, const rank_selection& ranks,
                           const queue_request& request, const debug_file_search& search, int stop) {
  how_.library = request.library;
  how_.no_library = request.no_library;
  how_.types.make_missing = request.types.empty();
  how_.starter = starter.pid;
  how_.host.trust_library = request.trust_library;
  how_.types.file = request.types;
  how_.types.debug_files = search;
  how_.host.stop = stop;
  snapshot_.starter = std::move(starter);
  snapshot_.library_chosen = !request.library.empty();
  snapshot_.library_trusted = request.trust_library;
  snapshot_.types_file = request.types;
  snapshot_.names = table.names();
  snapshot_.hosts = rank_hosts(table, ranks);
  snapshot_.worlds.assign(table.worlds().begin(), table.worlds().end());
  entries_ = table.size();
  spawned_.emplace(table, ranks, options_for(search));
}

node_queues queues_session::read_all() {
  spawned_->hold();
  node_queues seen = queues(how_);
  rank_queue_options again = how_;
  for (int tries = 1; tries < most_tries && !seen.stopped; ++tries) {
    auto busy = busy_ones(seen);
    if (busy.empty()) break;
    if (stopped_within(between_tries, how_.host.stop)) {
      seen.stopped = true;
      break;
    }
    again.ranks = selection_of(std::move(busy));
    put_into(seen, queues(again));
  }
  spawned_->read_into(seen, how_);
  return seen;
}

void queues_session::take() {
  node_queues seen = read_all();
  snapshot_.held += seen.held_for;
  snapshot_.interrupted = seen.stopped;
  // Half a second look says less than a whole first one.
  if (seen.stopped && snapshot_.looks > 0) return;
  ++snapshot_.looks;
  // What is told once is told of the looks before, too.
  auto notes = std::move(snapshot_.seen.notes);
  notes.insert(notes.end(), seen.notes.begin(), seen.notes.end());
  snapshot_.problems.insert(snapshot_.problems.end(), seen.problems.begin(), seen.problems.end());
  snapshot_.seen = std::move(seen);
  snapshot_.seen.notes = std::move(notes);
  snapshot_.waits = snapshot_.names.has_worlds()
                        ? find_waits(by_entries(snapshot_.seen.ranks, snapshot_.names, entries_), snapshot_.seen.doing)
                        : find_waits(snapshot_.seen.ranks, snapshot_.seen.doing);
}

void queues_session::look() {
  take();
  if (!snapshot_.interrupted && any_is_certain(snapshot_.waits.deadlocks)) look_again();
  if (snapshot_.interrupted && any_is_certain(snapshot_.waits.deadlocks)) {
    for (deadlock& found : snapshot_.waits.deadlocks) found.certain = false;
    snapshot_.waits.doubts.emplace_back(
        "interrupted before a second look: what seems to be a deadlock may be messages on their way");
  }
}

/// The tree as far as it says in which call each rank is.
std::vector<std::string> queues_session::calls_of(const stack_options& how) {
  const job_stacks seen = nodes_ ? nodes_->stacks(how) : merged(node_->stacks(how));
  snapshot_.held += seen.held_for;
  std::vector<std::string> calls = {seen.taken.text()};
  // What the program called, and not what that calls in turn.
  std::vector<bool> is_inside(seen.tree.size(), false);
  for (call_tree::node_number i = 1; i < seen.tree.size(); ++i) {
    const call_tree::node& node = seen.tree[i];
    is_inside[i] = is_inside[node.parent];
    if (is_inside[i] || !node.place || activity_in(node.place->function).kind == mpi_call_kind::none) continue;
    is_inside[i] = true;
    calls.push_back(node.place->function + " " + node.ranks.text());
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

bool queues_session::stay_where_they_are(const std::vector<std::uint32_t>& ranks) {
  stack_options how;
  how.ranks = selection_of(ranks);
  std::vector<std::string> calls;
  for (int sample = 0; sample < samples_between_looks; ++sample) {
    if (stopped_within(between_samples, how_.host.stop)) {
      snapshot_.interrupted = true;
      return false;
    }
    const auto now = calls_of(how);
    if (sample == 0) calls = now;
    if (now != calls) return false;
  }
  return true;
}

void queues_session::look_again() {
  std::set<std::vector<std::uint32_t>> before;
  std::set<std::uint32_t> members;
  for (const deadlock& found : snapshot_.waits.deadlocks) {
    if (!found.certain) continue;
    before.insert(found.ranks);
    members.insert(found.ranks.begin(), found.ranks.end());
  }
  const bool still = stay_where_they_are({members.begin(), members.end()});
  if (!snapshot_.interrupted) take();
  if (snapshot_.interrupted) return;
  bool some_passed = false;
  for (deadlock& found : snapshot_.waits.deadlocks) {
    if (!found.certain || (still && before.contains(found.ranks))) continue;
    found.certain = false;
    some_passed = true;
  }
  if (some_passed)
    snapshot_.waits.doubts.emplace_back(
        "some of the ranks that seem to wait for each other have moved between two looks");
  std::stable_partition(snapshot_.waits.deadlocks.begin(), snapshot_.waits.deadlocks.end(),
                        [](const deadlock& found) { return found.certain; });
}

rank_set queues_session::spawn_elsewhere() const {
  rank_set followed, all;
  for (const job_node& node : nodes_ ? nodes_->nodes() : std::span<const job_node>()) {
    if (node.local) followed.add(node.ranks);
  }
  for (const rank_queues& rank : snapshot_.seen.ranks) {
    if (nodes_ && rank.report && !rank.report->spawn_breakpoint.empty()) all.add(rank.rank);
  }
  return all.without(followed);
}

std::unique_ptr<spawn_watch> queues_session::watch_spawns() {
  return spawn_watch::create(nodes_ ? nodes_->take_local() : std::move(node_), snapshot_.seen, how_);
}

bool queues_session::rank_failed() const {
  return !std::all_of(snapshot_.seen.ranks.begin(), snapshot_.seen.ranks.end(), is_whole);
}

queue_request request_for(queue_request request, const mpir::job_facts& facts, interface_kind interface) {
  // MPI2DD has a flag of its own, for each rank.
  if (!facts.ignore_queues || interface != interface_kind::mpir || !request.library.empty()) return request;
  request.no_library =
      "no queue library is loaded, because the starter defines MPIR_ignore_queues (MPIR 1.1, 9.14): its ranks have no "
      "message queues to be shown; --library asks one all the same";
  return request;
}

result<rank_selection> ranks_of(const rank_choice& choice, const job_view& job, const queue_request& asked,
                                const debug_file_search& search, agent_start wanted, int stop) {
  if (choice.communicator.empty()) return choice.selection;
  const queue_request request = request_for(asked, job.facts, job.interface);
  const auto agents = agents_for(job, {}, wanted, stop);
  auto session = agents ? queues_session::open(job, {}, request, search, *agents)
                        : queues_session::open(job.starter, *job.processes, job.is_local, {}, request, search, stop);
  if (!session) return fail(std::move(session).error());
  session->take();
  if (session->snapshot().interrupted) return fail(error_code::timed_out, "interrupted before the ranks were known");
  const auto& ranks = session->snapshot().seen.ranks;
  const rank_set members = ranks_of_communicator(ranks, choice.communicator);
  if (!members.empty()) return rank_selection::parse(session->snapshot().names.text(members));
  std::string why =
      fmt::format("no rank {}has a communicator \"{}\"", agents ? "" : "of this node ", choice.communicator);
  const auto failed = std::find_if(ranks.begin(), ranks.end(), [](const rank_queues& rank) { return !rank.report; });
  if (failed != ranks.end()) {
    why += fmt::format("; rank {}: {}", session->snapshot().names.of(failed->rank), failed->report.error().message);
  }
  return fail(error_code::not_found, std::move(why));
}

}  // namespace mpiacq::tool
