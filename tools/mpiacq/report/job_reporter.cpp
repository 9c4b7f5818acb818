// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/job_reporter.hpp"

#include <utility>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "errors/try.hpp"
#include "report/json/json_writer.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/stacks_session.hpp"

namespace mpiacq::tool {

namespace {

/// The ranks to read: those of all nodes if there are agents, otherwise the selected ones of this node.
result<std::shared_ptr<rank_group>> ranks_of_job(job& subject, const job_command_options& asked,
                                                 agents_of_job& agents) {
  if (auto nodes = agents.ranks(subject)) return nodes;
  rank_options how;
  how.select = asked.ranks.selection;
  how.until.stop = agents.stop();
  how.debug_files = search_without_downloads(asked.report);
  how.agents.reset();
  auto ranks = TRY(subject.ranks(how));
  return std::make_shared<rank_group>(std::move(ranks));
}

}  // namespace

void job_reporter::report(job_snapshot::event what, std::optional<job_change> change, std::optional<std::string> reason,
                          std::optional<rank_spawn> spawn) {
  auto snapshot = std::make_shared<job_snapshot>(snapshot_of(job_));
  snapshot->what = what;
  snapshot->abort_reason = std::move(reason);
  snapshot->change = std::move(change);
  snapshot->spawn = std::move(spawn);
  if (options_.json || shows_problems(*snapshot)) snapshot->problems = problems_.for_report();
  // The stacks and queues belong to this event only.
  snapshot->stacks = std::exchange(stacks_, std::nullopt);
  snapshot->queues = std::exchange(queues_, std::nullopt);
  report_.write([snapshot, json = options_.json, colour = report_.wants_colour()](report_stream& out) {
    if (!json) return write_job_text(out, *snapshot, colour);
    json_writer document(out);
    write_job(document, *snapshot);
    out.put('\n');
  });
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
  if (!subject.processes()) return;
  free_followed_ranks();
  const auto ranks = ranks_of_job(subject, asked, agents);
  if (!ranks) return note_failure(fail(ranks.error()));
  stacks_session session(*ranks, subject.description(), asked.ranks.selection, asked.all_threads);
  session.sample();
  rank_failed_ = rank_failed_ || session.rank_failed();
  stacks_ = std::move(session.snapshot());
}

void job_reporter::take_queues(job& subject, const job_command_options& asked, agents_of_job& agents) {
  if (!subject.processes()) return;
  free_followed_ranks();
  const auto ranks = ranks_of_job(subject, asked, agents);
  if (!ranks) return note_failure(fail(ranks.error()));
  const job_description job = subject.description();
  queues_session session(*ranks, job, asked.ranks.selection, request_for(asked.queue, job));
  session.look();
  rank_failed_ = rank_failed_ || session.rank_failed();
  // An MPI2DD job announces its spawns itself.
  if (asked.after == then::go_on && job.source == interface_kind::mpir) {
    if (const rank_set others = session.spawn_elsewhere(); !others.empty()) {
      const auto who = job.processes->names().text(others);
      problem({error_code::unsupported,
               others.count() == 1
                   ? fmt::format("rank {} is on another node: new processes of it will not be told", who)
                   : fmt::format("ranks {} are on other nodes: new processes of theirs will not be told", who)});
    }
    spawns_ = session.watch_spawns();
  }
  queues_ = std::move(session.snapshot());
  if (spawns_) followed_queues_ = queues_;
}

void job_reporter::serve_spawns() {
  if (!spawns_) return;
  while (const auto spawn = spawns_->next(clock::now())) {
    for (const error& what : spawn->problems) {
      problem(error{what}.while_doing(
          fmt::format("reading the new processes of rank {}", job_.processes()->names().of(spawn->entry))));
    }
    if (spawn->processes.empty()) continue;
    for (rank_report& rank : followed_queues_->seen.ranks) {
      if (rank.entry != spawn->entry || !rank.report) continue;
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
  for (const rank_hold& outcome : subject.hold_ranks()) {
    // The state of a rank on another node already says so.
    if (!outcome.why || outcome.why->code == error_code::unsupported) continue;
    problem(error{*outcome.why}.while_doing(
        fmt::format("holding rank {}", subject.processes()->names().of(outcome.entry))));
  }
}

}  // namespace mpiacq::tool
