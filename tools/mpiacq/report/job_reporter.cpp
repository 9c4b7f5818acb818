// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/job_reporter.hpp"

#include <utility>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/queues_session.hpp"
#include "commands/stacks_session.hpp"
#include "report/json/json_writer.hpp"

namespace mpiacq::tool {

namespace {

std::vector<bool> local_ones(const job& subject, const process_table& table) {
  std::vector<bool> is_local;
  for (std::size_t i = 0; i < table.size(); ++i) is_local.push_back(subject.is_local(i));
  return is_local;
}

}  // namespace

void job_reporter::report(job_snapshot::event what, std::optional<job_change> change, std::optional<std::string> reason,
                          std::optional<rank_spawn> spawn) {
  auto snapshot = std::make_shared<job_snapshot>(snapshot_of(job_));
  snapshot->what = what;
  snapshot->abort_reason = std::move(reason);
  snapshot->change = std::move(change);
  snapshot->spawn = std::move(spawn);
  snapshot->problems = problems_;
  // They were of this moment.
  snapshot->stacks = std::exchange(stacks_, std::nullopt);
  snapshot->queues = std::exchange(queues_, std::nullopt);
  report_.write([snapshot, json = options_.json, colour = report_.wants_colour()](report_stream& out) {
    if (!json) return write_job_text(out, *snapshot, colour);
    json_writer document(out);
    write_job(document, *snapshot);
    out.put('\n');
  });
}

void job_reporter::problem(const error& what) {
  problems_.push_back(what);
  complain(what);
}

void job_reporter::note_failure(const result<void>& done) {
  if (done) return;
  complain(done.error());
  note_failure();
}

void job_reporter::note_failure() {
  failed_ = true;
}

void job_reporter::take_stacks(job& subject, const job_command_options& asked, agents_of_job& agents) {
  const auto table = subject.processes();
  if (!table) return;
  free_followed_ranks();
  const debug_file_search search = search_without_downloads(asked.report);
  const stacks_request request{asked.ranks.selection, asked.all_threads, search};
  const auto nodes = agents.ranks(subject);
  auto session = nodes ? stacks_session::over(nodes, subject.starter(), *table, request)
                       : stacks_session::open(subject, *table, local_ones(subject, *table), request);
  if (!session) return note_failure(fail(std::move(session).error()));
  session->sample();
  rank_failed_ = rank_failed_ || session->rank_failed();
  stacks_ = std::move(session->snapshot());
}

void job_reporter::take_queues(job& subject, const job_command_options& asked, agents_of_job& agents) {
  const auto table = subject.processes();
  if (!table) return;
  free_followed_ranks();
  const debug_file_search search = search_without_downloads(asked.report);
  const auto nodes = agents.ranks(subject);
  const queue_request request = request_for(asked.queue, subject.facts(), subject.interface());
  auto session = nodes ? queues_session::over(nodes, subject.starter(), *table, asked.ranks.selection, request, search,
                                              agents.stop())
                       : queues_session::open(subject, *table, local_ones(subject, *table), asked.ranks.selection,
                                              request, search, agents.stop());
  if (!session) return note_failure(fail(std::move(session).error()));
  session->look();
  rank_failed_ = rank_failed_ || session->rank_failed();
  // An MPI2DD job tells of its spawns itself.
  if (asked.after == then::go_on && subject.interface() == interface_kind::mpir) {
    if (const rank_set others = session->spawn_elsewhere(); !others.empty()) {
      const auto who = table->names().text(others);
      problem({error_code::unsupported,
               others.count() == 1
                   ? fmt::format("rank {} is on another node: new processes of it will not be told", who)
                   : fmt::format("ranks {} are on other nodes: new processes of theirs will not be told", who)});
    }
    spawns_ = session->watch_spawns();
  }
  queues_ = std::move(session->snapshot());
  if (spawns_) followed_queues_ = queues_;
}

void job_reporter::serve_spawns() {
  if (!spawns_) return;
  while (const auto spawn = spawns_->next(clock::now())) {
    for (const error& what : spawn->problems) {
      problem(error{what}.while_doing(
          fmt::format("reading the new processes of rank {}", job_.processes()->names().of(spawn->rank))));
    }
    if (spawn->processes.empty()) continue;
    for (rank_queues& rank : followed_queues_->seen.ranks) {
      if (rank.rank != spawn->rank || !rank.report) continue;
      auto& all = rank.report->new_processes;
      all.insert(all.end(), spawn->processes.begin(), spawn->processes.end());
    }
    queues_ = followed_queues_;
    report(job_snapshot::event::new_processes, {}, {}, *spawn);
  }
}

void job_reporter::free_followed_ranks() {
  serve_spawns();
  spawns_.reset();
}

void job_reporter::hold_ranks(job& subject) {
  for (const rank_outcome& outcome : subject.hold_ranks()) {
    // What is on another node is told by its state.
    if (outcome.held || outcome.held.error().code == error_code::unsupported) continue;
    problem(error{outcome.held.error()}.while_doing(
        fmt::format("holding rank {}", subject.processes()->names().of(outcome.rank))));
  }
}

}  // namespace mpiacq::tool
