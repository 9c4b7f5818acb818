// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wait_finder.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "busy_ranks.hpp"
#include "call_movement.hpp"

namespace mpiacq {

namespace {

/// The time between two samples: long enough for a message to arrive and for its receiver to continue.
constexpr std::chrono::milliseconds between_samples{20};
constexpr int samples_between_looks = 8;
/// The time on a processor that a rank needs to take up what has arrived: hundreds of rounds of an MPI's polling.
constexpr std::chrono::milliseconds time_to_go_on{1};

/// Replaces the reports of `all` by those of the retry.
void put_into(group_queues& all, group_queues&& some) {
  for (rank_report& rank : some.ranks) {
    const auto at = std::lower_bound(all.ranks.begin(), all.ranks.end(), rank.entry,
                                     [](const rank_report& row, entry_index entry) { return row.entry < entry; });
    if (at != all.ranks.end() && at->entry == rank.entry) *at = std::move(rank);
  }
  all.held_for += some.held_for;
  all.stopped = all.stopped || some.stopped;
  std::move(some.notes.begin(), some.notes.end(), std::back_inserter(all.notes));
  std::move(some.problems.begin(), some.problems.end(), std::back_inserter(all.problems));
}

rank_set busy_ones(const group_queues& seen) {
  rank_set busy;
  for (const rank_report& rank : seen.ranks) {
    if (!rank.report && rank.report.error().code == error_code::busy) busy.add(rank.entry);
  }
  return busy;
}

/// Whether the rank waits for a nonblocking collective operation.
bool waits_for_collective(const rank_activity& doing) {
  if (!doing.requests) return false;
  const auto& pending = doing.requests->pending;
  return std::any_of(pending.begin(), pending.end(),
                     [](const pending_requests& one) { return one.kind == mpi_request_kind::collective; });
}

/// Whether a deadlock was found from the calls of ranks alone: no queue shows what they wait for. Such a picture
/// changes with each message, so that one look says little.
bool is_by_calls(const deadlock& one, const group_queues& seen) {
  return !one.certain && std::any_of(one.ranks.begin(), one.ranks.end(), [&](entry_index entry) {
    const auto at = std::lower_bound(seen.ranks.begin(), seen.ranks.end(), entry,
                                     [](const rank_report& row, entry_index e) { return row.entry < e; });
    return at != seen.ranks.end() && at->entry == entry && (is_told_by_call(*at) || waits_for_collective(at->doing));
  });
}

/// What stays the same if two looks find the same mismatch.
std::vector<std::string> texts_of(const std::vector<call_mismatch>& mismatches) {
  std::vector<std::string> texts;
  for (const call_mismatch& one : mismatches) texts.push_back(one.sentence());
  return texts;
}

rank_set ranks_of(const call_mismatch& mismatch) {
  rank_set all;
  for (const auto& [call, ranks] : mismatch.calls) all.add(ranks);
  return all;
}

bool any_is_certain(const std::vector<deadlock>& deadlocks) {
  return std::any_of(deadlocks.begin(), deadlocks.end(), [](const deadlock& found) { return found.certain; });
}

queue_waits waits_among(std::span<const rank_report> ranks, const process_table* table) {
  if (table == nullptr || !table->names().has_worlds()) return find_waits(ranks);
  return find_waits(by_entries(ranks, table->names(), table->size()));
}

}  // namespace

wait_finder::wait_finder(rank_group& ranks, const group_parts& parts, const waits_options& options)
    : ranks_(ranks),
      parts_(parts),
      confirms_(options.confirm),
      how_(parts.completed(options.queues.value_or(parts.options.queues))) {
  if (how_.host.stop < 0) how_.host.stop = parts.limit.get();
  if (options.progress) {
    how_.progress = [this, tell = options.progress](std::size_t read, std::size_t all) {
      tell(read, all, found_.looks);
    };
  }
  if (!parts.table) return;
  const auto& selection = parts.options.select.selection();
  spawned_.emplace(*parts.table, selection.value_or(rank_selection{}),
                   node_ranks_options{parts.options.tracing, parts.options.debug_files});
}

confirmed_waits wait_finder::find() {
  look();
  const bool finds_any = !found_.deadlocks.empty() || !found_.mismatches.empty();
  if (confirms_ && !found_.interrupted && finds_any) confirm();
  if (confirms_ && found_.interrupted && any_is_certain(found_.deadlocks)) doubt_all();
  return std::move(found_);
}

void wait_finder::doubt_all() {
  for (deadlock& one : found_.deadlocks) one.certain = false;
  found_.doubts.emplace_back(
      "interrupted before a second look: what seems to be a deadlock may be messages on their way");
}

group_queues wait_finder::read_all() {
  if (spawned_) spawned_->hold();
  group_queues seen = ranks_.queues(how_);
  rank_queue_options again = how_;
  busy_tries tries;
  for (auto busy = busy_ones(seen); !seen.stopped && tries.again(busy, how_.host.stop); busy = busy_ones(seen)) {
    again.ranks = selection_of(busy);
    put_into(seen, ranks_.queues(again));
  }
  seen.stopped = seen.stopped || tries.stopped();
  if (spawned_) spawned_->read_into(seen, how_);
  return seen;
}

void wait_finder::look() {
  group_queues seen = read_all();
  found_.held_for += seen.held_for;
  found_.interrupted = seen.stopped;
  // An incomplete second look is worth less than a complete first one.
  if (seen.stopped && found_.looks > 0) return;
  ++found_.looks;
  // Notes and problems of earlier looks stay, and each occurs once.
  seen.notes.insert(seen.notes.begin(), std::make_move_iterator(found_.seen.notes.begin()),
                    std::make_move_iterator(found_.seen.notes.end()));
  seen.problems.insert(seen.problems.begin(), found_.seen.problems.begin(), found_.seen.problems.end());
  found_.seen = std::move(seen);
  static_cast<queue_waits&>(found_) = waits_among(found_.seen.ranks, parts_.table.get());
}

rank_set wait_finder::moved_among(const rank_set& ranks) {
  stack_options how;
  how.ranks = selection_of(ranks);
  call_movement calls;
  for (int sample = 0; sample < samples_between_looks; ++sample) {
    if (is_stopped_within(between_samples, how_.host.stop)) {
      found_.interrupted = true;
      break;
    }
    // The samples themselves keep a rank from running that seldom gets a processor.
    if (sample + 1 == samples_between_looks) how.run_first = time_to_go_on;
    const group_stacks seen = ranks_.stacks(how);
    not_run_ = seen.not_run;
    found_.held_for += seen.held_for;
    calls.add(seen);
    if (ranks.without(calls.moved()).empty()) break;
  }
  return calls.moved();
}

void wait_finder::confirm() {
  std::set<std::vector<entry_index>> before;
  rank_set members;
  for (const deadlock& one : found_.deadlocks) {
    before.insert(one.ranks);
    for (const entry_index entry : one.ranks) members.add(entry);
  }
  const auto mismatches = texts_of(found_.mismatches);
  for (const call_mismatch& one : found_.mismatches) members.add(ranks_of(one));
  const rank_set moved = moved_among(members);
  if (!found_.interrupted) look();
  if (found_.interrupted) return;
  drop_what_moved(moved, before, mismatches);
  doubt_those_of(not_run_);
  std::stable_partition(found_.deadlocks.begin(), found_.deadlocks.end(),
                        [](const deadlock& one) { return one.certain; });
}

void wait_finder::doubt_those_of(const rank_set& not_run) {
  rank_set named;
  for (deadlock& one : found_.deadlocks) {
    rank_set of_these;
    for (const entry_index entry : one.ranks) of_these.add(entry);
    const rank_set idle = of_these.both(not_run);
    one.certain = one.certain && idle.empty();
    named.add(idle);
  }
  for (call_mismatch& one : found_.mismatches) {
    const rank_set idle = ranks_of(one).both(not_run);
    one.certain = one.certain && idle.empty();
    named.add(idle);
  }
  if (named.empty()) return;
  found_.doubts.push_back(fmt::format("{} {}: did not run between two looks, so that a message may be there",
                                      named.count() == 1 ? "rank" : "ranks", named.text()));
}

void wait_finder::drop_what_moved(const rank_set& moved, const std::set<std::vector<entry_index>>& before,
                                  const std::vector<std::string>& mismatches) {
  const auto has_moved = [&](const deadlock& one) {
    return std::any_of(one.ranks.begin(), one.ranks.end(), [&](entry_index entry) { return moved.contains(entry); });
  };
  bool some_passed = false;
  std::vector<deadlock> kept;
  for (deadlock& one : found_.deadlocks) {
    const bool is_new = !before.contains(one.ranks);
    some_passed = some_passed || is_new || has_moved(one);
    if (has_moved(one) || (is_new && is_by_calls(one, found_.seen))) continue;
    one.certain = one.certain && !is_new;
    kept.push_back(std::move(one));
  }
  found_.deadlocks = std::move(kept);
  std::erase_if(found_.mismatches, [&](const call_mismatch& one) {
    const bool is_new = std::find(mismatches.begin(), mismatches.end(), one.sentence()) == mismatches.end();
    return is_new || !ranks_of(one).both(moved).empty();
  });
  if (some_passed)
    found_.doubts.emplace_back("some of the ranks that seem to wait for each other have moved between two looks");
}

}  // namespace mpiacq
