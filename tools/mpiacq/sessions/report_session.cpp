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

}  // namespace

report_look look_for_report(const ranks_look& look, const queue_request& request, bool all_threads) {
  report_look done;
  findings& found = done.found;
  found.taken = std::chrono::system_clock::now();
  found.host = own_host();
  found.command = command_of(look.job.starter);

  stacks_session stacks(look.ranks, look.job, look.selection, all_threads);
  stacks.sample();
  queues_session queues(look.ranks, look.job, look.selection, request_for(request, look.job));
  look_with_progress(queues);
  done.rank_failed = stacks.rank_failed() || queues.rank_failed();

  found.stacks = std::move(stacks.snapshot());
  found.queues = std::move(queues.snapshot());
  found.queues.problems.insert(found.queues.problems.begin(), look.job.problems.begin(), look.job.problems.end());
  found.job = snapshot_of(look.job, found.stacks);
  found.why = find_verdict(found.queues.waits, found.queues.seen.ranks, found.queues.names);
  return done;
}

}  // namespace mpiacq::tool
