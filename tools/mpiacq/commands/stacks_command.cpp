// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "commands/progress_line.hpp"
#include "commands/ranks_look.hpp"
#include "commands/stacks_session.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/stacks_json.hpp"

namespace mpiacq::tool {

namespace {

constexpr double longest_wait = 1e9;  // seconds; more than a clock can add is the same as for ever

/// Until then, or until a signal has come: its number.
std::optional<int> wait_until(deadline then, signal_catcher& signals) {
  for (;;) {
    if (const auto signal = signals.take()) return signal->number;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd source{signals.descriptor(), POLLIN, 0};
    (void)::poll(&source, 1, static_cast<int>(std::min<long long>(left, 60'000)));
  }
}

/// The number of the signal that ended it before the last sample.
std::optional<int> take_samples(stacks_session& session, const stacks_options& options, signal_catcher& signals) {
  progress_line shown(options.samples > 1);
  const deadline begin = clock::now();
  for (std::size_t taken = 1; taken <= options.samples; ++taken) {
    shown.show(fmt::format("sample {} of {}", taken, options.samples));
    session.sample();
    // Also one that has come while agents did: then some ranks are missing for that alone.
    if (taken == options.samples) return wait_until(clock::now(), signals);
    // By the clock, not from the end of the last one: the rate is what was asked for as long as that can be.
    const std::chrono::duration<double> since(std::min(options.interval * static_cast<double>(taken), longest_wait));
    const deadline next = begin + std::chrono::duration_cast<clock::duration>(since);
    if (const auto signal = wait_until(next, signals)) return signal;
  }
  return std::nullopt;
}

void write_report(report_stream& out, const stacks_snapshot& snapshot, const stacks_options& options, bool colour) {
  if (options.report.json) {
    json_writer document(out);
    write_stacks(document, snapshot);
    return out.put('\n');
  }
  switch (options.form) {
    case stacks_form::folded:
      return write_stacks_folded(out, snapshot.tree);
    case stacks_form::dot:
      return write_stacks_dot(out, snapshot);
    case stacks_form::tree:
      return write_stacks_text(out, snapshot, colour);
  }
}

/// Where the report has no room for it.
void complain_of_ranks(const stacks_snapshot& snapshot) {
  rank_set remote;
  for (const stacked_rank& row : snapshot.ranks) {
    if (!row.is_local) remote.add(row.rank);
    for (const error& problem : row.problems)
      complain(fmt::format("rank {}: {}", snapshot.names.of(row.rank), problem.message));
  }
  if (!remote.empty()) complain("on other nodes, and not looked at: ranks " + snapshot.names.text(remote));
}

}  // namespace

int run_stacks(const stacks_options& options) {
  auto report = report_file::open(options.report, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  signal_catcher signals{when_busy::end};
  const auto look = look_for_ranks(options.report, options.process, options.ranks, options.queue, options.interface,
                                   options.agents, options.timeout, signals);
  if (!look) {
    complain(look.error());
    return status_without_ranks(signals);
  }
  const job_view& job = look->job;
  const stacks_request request{look->ranks, options.all_threads, look->search};
  const auto agents = agents_for(job, look->ranks, options.agents, signals.descriptor());
  auto session = agents ? stacks_session::open(job, request, *agents)
                        : stacks_session::open(job.starter, *job.processes, job.is_local, request);
  if (!session) {
    complain(session.error());
    return status_tool_failed;
  }
  if (session->nodes() != nullptr) complain_of_nodes(*session->nodes());
  stacks_snapshot& snapshot = session->snapshot();
  snapshot.interval = std::chrono::duration<double>(options.interval);
  snapshot.problems = job.problems;
  const auto interrupted = take_samples(*session, options, signals);
  if (options.form != stacks_form::tree && !options.report.json) complain_of_ranks(snapshot);
  const bool rank_failed = session->rank_failed();
  report->write([seen = std::make_shared<stacks_snapshot>(std::move(snapshot)), options,
                 colour = report->wants_colour()](report_stream& out) { write_report(out, *seen, options, colour); });
  if (interrupted) return status_by_signal(*interrupted);
  return rank_failed ? status_rank_failed : status_ok;
}

}  // namespace mpiacq::tool
