// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queues_session.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "mpiacq/job_view.hpp"
#include "queues_worlds.hpp"

namespace mpiacq::tool {

namespace {

/// Between two looks: long enough for a message to come and for whoever waited for it to go on.
constexpr std::chrono::milliseconds between_samples{20};
constexpr int samples_between_looks = 8;

rank_selection selection_of(std::vector<std::uint32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  rank_set all;
  for (const std::uint32_t rank : ranks) all.add(rank);
  return rank_selection::parse(all.text()).value_or(rank_selection{});
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
                                            const queue_request& request, const debug_file_search& search) {
  return open(node_ranks::create(table, ranks, options_for(search)), std::move(starter), table, is_local, ranks,
              request, search);
}

result<queues_session> queues_session::open(job& subject, const process_table& table, const std::vector<bool>& is_local,
                                            const rank_selection& ranks, const queue_request& request,
                                            const debug_file_search& search) {
  return open(subject.look_into(ranks, options_for(search)), subject.starter(), table, is_local, ranks, request,
              search);
}

result<queues_session> queues_session::open(result<std::unique_ptr<node_ranks>> node, starter_facts starter,
                                            const process_table& table, const std::vector<bool>& is_local,
                                            const rank_selection& ranks, const queue_request& request,
                                            const debug_file_search& search) {
  if (!node) return fail(std::move(node).error());
  queues_session session;
  session.node_ = std::move(*node);
  session.how_.library = request.library;
  session.how_.starter = starter.pid;
  session.how_.host.trust_library = request.trust_library;
  session.how_.types.file = request.types;
  session.how_.types.debug_files = search;
  session.snapshot_.starter = std::move(starter);
  session.snapshot_.library_chosen = !request.library.empty();
  session.snapshot_.library_trusted = request.trust_library;
  session.snapshot_.types_file = request.types;
  session.snapshot_.names = table.names();
  session.snapshot_.worlds.assign(table.worlds().begin(), table.worlds().end());
  session.entries_ = table.size();
  for (const std::uint32_t rank : table.names().selected(ranks, table.size())) {
    if (!is_local[rank]) session.snapshot_.remote.add(rank);
  }
  return session;
}

void queues_session::take() {
  node_queues seen = node_->queues(how_);
  snapshot_.held += seen.held_for;
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
  if (any_is_certain(snapshot_.waits.deadlocks)) look_again();
}

bool queues_session::stay_where_they_are(const std::vector<std::uint32_t>& ranks) {
  stack_options how;
  how.ranks = selection_of(ranks);
  std::vector<std::string> calls;
  for (int sample = 0; sample < samples_between_looks; ++sample) {
    std::this_thread::sleep_for(between_samples);
    const node_stacks seen = node_->stacks(how);
    snapshot_.held += seen.held_for;
    std::vector<std::string> now;
    for (const rank_stacks& rank : seen.ranks) now.push_back(activity_of(rank.threads, {}).function);
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
  take();
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

bool queues_session::rank_failed() const {
  return !std::all_of(snapshot_.seen.ranks.begin(), snapshot_.seen.ranks.end(), is_whole);
}

result<rank_selection> ranks_of(const rank_choice& choice, process_id named, const queue_request& request,
                                const look_options& how, deadline until) {
  if (choice.communicator.empty()) return choice.ranks;
  const auto job = look_at_job(named, how, until);
  if (!job) return fail(job.error());
  auto session = queues_session::open(job->starter, *job->processes, job->is_local, {}, request, how.debug_files);
  if (!session) return fail(std::move(session).error());
  session->take();
  const auto& ranks = session->snapshot().seen.ranks;
  const rank_set members = ranks_of_communicator(ranks, choice.communicator);
  if (!members.empty()) return rank_selection::parse(session->snapshot().names.text(members));
  std::string why = fmt::format("no rank of this node has a communicator \"{}\"", choice.communicator);
  const auto failed = std::find_if(ranks.begin(), ranks.end(), [](const rank_queues& rank) { return !rank.report; });
  if (failed != ranks.end()) {
    why += fmt::format("; rank {}: {}", session->snapshot().names.of(failed->rank), failed->report.error().message);
  }
  return fail(error_code::not_found, std::move(why));
}

}  // namespace mpiacq::tool
