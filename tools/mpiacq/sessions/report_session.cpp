// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/report_session.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/progress_line.hpp"
#include "proc/process_facts.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/snapshot_of_job.hpp"
#include "sessions/stacks_session.hpp"

namespace mpiacq::tool {

namespace {

std::string own_host() {
  char host_name[256] = {};
  return ::gethostname(host_name, sizeof host_name - 1) == 0 ? host_name : "";
}

/// The starter's arguments; empty if there is no starter on this node, or if they cannot be read.
std::vector<std::string> command_of(const starter_facts& starter) {
  std::vector<std::string> command;
  if (starter.pid.value() <= 0) return command;
  const auto facts = process_facts::open(starter.pid);
  if (!facts || !facts->command_line()) return command;
  const std::string& all = *facts->command_line();
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    command.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return command;
}

rank_state state_of(const stacked_rank& rank) {
  if (!rank.is_local) return rank_state::remote;
  if (rank.samples != 0) return rank_state::running;
  const bool has_ended = !rank.problems.empty() && rank.problems.back().code == error_code::process_gone;
  return has_ended ? rank_state::gone : rank_state::unknown;
}

/// The job as a report of a controlled job shows it. Ranks that were not asked for have an unknown state.
job_snapshot snapshot_of(const job_description& job, const stacks_snapshot& stacks) {
  job_snapshot snapshot;
  snapshot.what = job_snapshot::event::observed;
  snapshot.starter = job.starter;
  snapshot.facts = job.facts;
  snapshot.origin = {job.source, job.launcher};
  snapshot.processes = job.processes;
  snapshot.locality = job.locality;
  snapshot.problems = job.problems;
  snapshot.states.assign(job.processes->size(), rank_state::unknown);
  for (std::size_t i = 0; i < snapshot.states.size(); ++i) {
    if (!job.is_local(entry_index{i})) snapshot.states[i] = rank_state::remote;
  }
  for (const stacked_rank& rank : stacks.ranks) snapshot.states[rank.entry.value()] = state_of(rank);
  return snapshot;
}

/// What does not depend on the ranks.
findings begun_findings(const ranks_look& look) {
  findings found;
  found.taken = std::chrono::system_clock::now();
  found.host = own_host();
  found.command = command_of(look.job.starter);
  return found;
}

void put_in(report_look& done, const ranks_look& look, stacks_session& stacks, queues_session& queues) {
  done.rank_failed = stacks.rank_failed() || queues.rank_failed();
  findings& found = done.found;
  found.stacks = std::move(stacks.snapshot());
  found.queues = std::move(queues.snapshot());
  found.queues.problems.insert(found.queues.problems.begin(), look.job.problems.begin(), look.job.problems.end());
  found.job = snapshot_of(look.job, found.stacks);
}

/// The ranks whose core files the user wants. Empty: none.
rank_set ranks_with_cores(core_choice choice, const rank_set& blamed, const rank_group& ranks) {
  rank_set all;
  switch (choice) {
    case core_choice::none:
      break;
    case core_choice::first:
      if (!blamed.empty()) all.add(blamed.lowest());
      break;
    case core_choice::odd:
      all = blamed;
      break;
    case core_choice::all:
      all = entries_of(ranks);
      break;
  }
  return all;
}

}  // namespace

report_look look_for_report(const ranks_look& look, const queue_request& request, bool all_threads) {
  report_look done{begun_findings(look)};
  stacks_session stacks(look.ranks, look.job, look.selection, all_threads);
  stacks.sample();
  queues_session queues(look.ranks, look.job, look.selection, request_for(request, look.job));
  look_with_progress(queues);
  put_in(done, look, stacks, queues);
  findings& found = done.found;
  found.why = find_verdict(found.queues.waits, found.queues.seen.ranks, found.queues.names);
  return done;
}

report_look look_for_crash(const ranks_look& look, const group_ends& ends, core_choice cores,
                           const std::string& folder) {
  report_look done{begun_findings(look)};
  stacks_session stacks(look.ranks, look.job, look.selection, false);
  stacks.sample_with(ends.stacks);
  queue_request without_library;
  without_library.no_library = "no queue library is loaded, because a rank has failed";
  queues_session queues(look.ranks, look.job, look.selection, without_library);
  queues.take();
  put_in(done, look, stacks, queues);
  findings& found = done.found;
  found.cause = report_cause::crash;
  found.why = find_crash_verdict(ends.failed, found.stacks.tree, found.queues.names);
  found.crash = crash_findings{ends.failed, {}, {}};
  if (const rank_set wanted = ranks_with_cores(cores, found.why.ranks, *look.ranks); !wanted.empty()) {
    rank_core_options how;
    how.ranks = rank_selection::parse(wanted.text()).value_or(rank_selection());
    how.folder = folder;
    found.crash->cores = look.ranks->write_cores(how);
  }
  // The launcher may have killed ranks that were held. They are no cause of the failure.
  found.crash->meanwhile = look.ranks->ends().failed;
  return done;
}

}  // namespace mpiacq::tool
