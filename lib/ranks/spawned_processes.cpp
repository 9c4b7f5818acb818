// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "spawned_processes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "mpiacq/job/job_description.hpp"

namespace mpiacq {

namespace {

/// The names come from a rank's memory and are not trusted. These limits bound the cost of a look.
constexpr std::uint32_t most_processes = 4096;
constexpr int most_generations = 8;

/// Restricts a communicator to its own process. A library that numbers the processes differently would otherwise seem
/// to refer to the job's ranks.
void keep_apart(queue_communicator& one, std::uint32_t identity) {
  // Keeps small differences between ids from making two processes' ids equal.
  constexpr std::uint64_t apart = 0x9e3779b97f4a7c15;
  one.id += identity * apart;
  one.group.reset();
  for (queue_listing& queue : one.queues) {
    for (queue_operation& operation : queue.operations) {
      operation.desired.global.reset();
      if (operation.actual) operation.actual->from_or_to.global.reset();
    }
  }
}

bool is_numbered_by_identities(const queue_communicator& one, std::uint32_t identity) {
  return one.group && one.local_rank >= 0 && static_cast<std::uint64_t>(one.local_rank) < one.group->size() &&
         (*one.group)[static_cast<std::size_t>(one.local_rank)] == std::int64_t{identity};
}

bool has_gone(const rank_report& rank) {
  return !rank.report && rank.report.error().code == error_code::process_gone;
}

}  // namespace

spawned_processes::spawned_processes(const process_table& table, rank_selection ranks, node_ranks_options options)
    : ranks_(std::move(ranks)),
      options_(std::move(options)),
      user_(table.user()),
      first_identity_(static_cast<std::uint32_t>(table.size())),
      next_identity_(first_identity_),
      none_(!table.worlds().empty()) {
  const entry_locality locality(table);
  for (const entry_index entry : table.entries()) {
    if (locality.is_local(entry)) known_.insert(table.pid(entry));
  }
  known_.insert(process_id(::getpid()));
}

void spawned_processes::hold() {
  for (const auto& group : groups_) (void)group->hold();
}

std::vector<rank_process> spawned_processes::newcomers(group_queues& seen) {
  std::vector<table_row> rows;
  std::vector<entry_index> parents;
  for (const rank_report& rank : seen.ranks) {
    if (!rank.report) continue;
    for (const new_process& one : rank.report->new_processes) {
      if (known_.contains(one.pid) || rows.size() == most_processes) continue;
      rows.push_back({one.host, one.executable, one.pid, rank_names::no_world, rank_number{0}});
      parents.push_back(rank.entry);
    }
  }
  const process_table table = make_process_table(rows, {}, {});
  const entry_locality locality(table);
  std::vector<rank_process> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!locality.is_local(entry_index{i}) || !known_.insert(rows[i].pid).second) continue;
    if (next_identity_ - first_identity_ == most_processes) {
      seen.problems.emplace_back(error_code::limit,
                                 fmt::format("the ranks have spawned more than {} processes of this node: the rest is "
                                             "not looked at",
                                             most_processes));
      break;
    }
    const std::uint32_t identity = next_identity_++;
    if (!ranks_.contains(entry_index{identity})) continue;
    seen.notes.push_back(fmt::format("rank {} has spawned process {} ({}): here it is rank {}", parents[i].value(),
                                     rows[i].pid.value(), *rows[i].executable, identity));
    found.push_back({entry_index{identity}, rows[i].pid, std::string(*rows[i].executable), std::nullopt, {}, user_});
  }
  return found;
}

void spawned_processes::read_group(node_ranks& group, group_queues& seen, const rank_queue_options& how) {
  group_queues read = group.queues(how);
  (void)group.release();
  for (rank_report& rank : read.ranks) {
    // A library can keep naming processes that ended long ago.
    if (has_gone(rank)) continue;
    if (rank.report) {
      const std::uint32_t identity = rank.entry.value();
      for (queue_communicator& one : rank.report->communicators) {
        if (!is_numbered_by_identities(one, identity)) keep_apart(one, identity);
      }
    }
    seen.ranks.push_back(std::move(rank));
  }
  seen.held_for += read.held_for;
  seen.stopped = seen.stopped || read.stopped;
  std::move(read.notes.begin(), read.notes.end(), std::back_inserter(seen.notes));
  std::move(read.problems.begin(), read.problems.end(), std::back_inserter(seen.problems));
}

void spawned_processes::read_into(group_queues& seen, const rank_queue_options& how) {
  if (none_) return;
  for (const auto& group : groups_) read_group(*group, seen, how);
  for (int generation = 0; generation < most_generations && !seen.stopped; ++generation) {
    auto found = newcomers(seen);
    if (found.empty()) return;
    auto group = node_ranks::create(std::move(found), options_);
    if (!group) {
      seen.problems.push_back(std::move(group).error());
      return;
    }
    groups_.push_back(std::move(*group));
    read_group(*groups_.back(), seen, how);
  }
}

}  // namespace mpiacq
