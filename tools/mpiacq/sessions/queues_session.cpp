// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/queues_session.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "commands/agents_choice.hpp"
#include "commands/progress_line.hpp"
#include "errors/try.hpp"
#include "report/failure_names.hpp"
#include "sessions/snapshot_of_job.hpp"

namespace mpiacq::tool {

namespace {

/// Reading fewer ranks than this takes too little time for progress to be useful.
constexpr std::size_t many_ranks = 8;

}  // namespace

std::string_view outcome_of(const rank_report& rank) {
  if (rank.report) return is_whole(rank) ? "complete" : "incomplete";
  return failure_name(rank.report.error().code);
}

queues_session::queues_session(std::shared_ptr<rank_group> ranks, const job_description& job,
                               const rank_selection& selection, const queue_request& request)
    : ranks_(std::move(ranks)) {
  how_.library = request.library;
  how_.no_library = request.no_library;
  if (job.starter.pid != process_id{}) how_.starter = job.starter.pid;
  how_.host.trust_library = request.trust_library;
  how_.types.file = request.types;
  how_.types.make_missing = request.types.empty();
  describe_job_in(snapshot_, job, selection);
  snapshot_.library_chosen = !request.library.empty();
  snapshot_.library_trusted = request.trust_library;
  snapshot_.types_file = request.types;
  const rank_set looked_at = entries_of(*ranks_);
  for (const entry_index entry : job.selected(selection)) {
    if (!looked_at.contains(entry)) snapshot_.remote.add(entry);
  }
}

void queues_session::take(waits_options how) {
  how.progress = [this](std::size_t read, std::size_t all, std::size_t looks) {
    snapshot_.looks = looks;
    if (tell_) tell_(read, all);
  };
  auto found = ranks_->waits(how);
  if (!found) {
    snapshot_.problems.push_back(std::move(found).error());
    return;
  }
  snapshot_.held += found->held_for;
  snapshot_.looks = found->looks;
  snapshot_.interrupted = found->interrupted;
  snapshot_.seen = std::move(found->seen);
  auto& problems = snapshot_.seen.problems;
  snapshot_.problems.insert(snapshot_.problems.end(), problems.begin(), problems.end());
  snapshot_.waits = std::move(*found);
}

rank_set queues_session::spawn_elsewhere() const {
  rank_set remote, all;
  for (const job_node& node : ranks_->nodes()) {
    if (!node.local) remote.add(node.ranks);
  }
  for (const rank_report& rank : snapshot_.seen.ranks) {
    if (rank.report && !rank.report->spawn_breakpoint.empty() && remote.contains(rank.entry)) all.add(rank.entry);
  }
  return all;
}

bool queues_session::rank_failed() const {
  return !std::all_of(snapshot_.seen.ranks.begin(), snapshot_.seen.ranks.end(), is_whole);
}

void look_with_progress(queues_session& session) {
  progress_line line(session.rank_count() >= many_ranks);
  session.on_progress([&](std::size_t read, std::size_t all) {
    line.show(fmt::format("queues of {} of {} ranks{}", read, all, session.snapshot().looks == 0 ? "" : ", once more"));
  });
  session.look();
  session.on_progress({});
}

queue_request request_for(queue_request request, const job_description& job) {
  // MPI2DD has a flag for this in each rank.
  if (!job.facts.ignore_queues || job.source != interface_kind::mpir || !request.library.empty()) return request;
  request.no_library =
      "no queue library is loaded, because the starter defines MPIR_ignore_queues (MPIR 1.1, 9.14): its ranks have no "
      "message queues to be shown; --library asks one all the same";
  return request;
}

result<rank_selection> ranks_of(const rank_choice& choice, const job_description& job, const queue_request& asked,
                                const debug_file_search& search, agent_start wanted, int stop) {
  if (choice.communicator.empty()) return choice.selection;
  const auto how = ranks_at(job, {}, search, wanted, stop);
  auto made = TRY(job.ranks(how));
  queues_session session(std::make_shared<rank_group>(std::move(made)), job, {}, request_for(asked, job));
  session.take();
  if (session.snapshot().interrupted) return fail(error_code::timed_out, "interrupted before the ranks were known");
  const auto& ranks = session.snapshot().seen.ranks;
  const rank_set members = ranks_of_communicator(ranks, choice.communicator);
  if (!members.empty()) return rank_selection::parse(session.snapshot().names.text(members));
  std::string why =
      fmt::format("no rank {}has a communicator \"{}\"", how.agents ? "" : "of this node ", choice.communicator);
  const auto failed = std::find_if(ranks.begin(), ranks.end(), [](const rank_report& rank) { return !rank.report; });
  if (failed != ranks.end()) {
    why += fmt::format("; rank {}: {}", session.snapshot().names.of(failed->entry), failed->report.error().message);
  }
  return fail(error_code::not_found, std::move(why));
}

}  // namespace mpiacq::tool
