// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "commands/progress_line.hpp"
#include "commands/queues_session.hpp"
#include "commands/ranks_look.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/queues_json.hpp"

namespace mpiacq::tool {

namespace {

/// Reading a few ranks takes no longer than a person needs to look up.
constexpr std::size_t many_ranks = 8;

/// Reads with a word on how far it is.
void look_with_progress(queues_session& session) {
  progress_line line(session.rank_count() >= many_ranks);
  session.on_progress([&](std::size_t read, std::size_t all) {
    line.show(fmt::format("queues of {} of {} ranks{}", read, all, session.snapshot().looks == 0 ? "" : ", once more"));
  });
  session.look();
  session.on_progress({});
}

/// What there is to say beside the report, where that may be JSON, or in a file.
void complain_of_signal(int number, const queues_snapshot& seen) {
  const auto& ranks = seen.seen.ranks;
  const auto read = std::count_if(ranks.begin(), ranks.end(), [](const rank_queues& rank) { return !!rank.report; });
  const char* name = ::sigabbrev_np(number);
  complain(fmt::format("ended by {}{}: the queues of {} of {} ranks had been read, and all ranks go on",
                       name == nullptr ? "signal " : "SIG", name == nullptr ? std::to_string(number) : name, read,
                       ranks.size()));
}

}  // namespace

int run_queues(const queues_options& options) {
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
  const auto agents = agents_for(look->job, look->ranks, options.agents, signals.descriptor());
  const queue_request request = request_for(options.queue, look->job.facts, look->job.interface);
  auto session = agents ? queues_session::open(look->job, look->ranks, request, look->search, *agents)
                        : queues_session::open(look->job.starter, *look->job.processes, look->job.is_local, look->ranks,
                                               request, look->search, signals.descriptor());
  if (!session) {
    complain(session.error());
    return status_tool_failed;
  }
  if (session->nodes() != nullptr) complain_of_nodes(*session->nodes());
  session->snapshot().problems = look->job.problems;
  session->snapshot().verbose = options.verbose;
  look_with_progress(*session);
  const auto signal = signals.take();
  const bool rank_failed = session->rank_failed();
  const auto seen = std::make_shared<const queues_snapshot>(std::move(session->snapshot()));
  report->write([seen, json = options.report.json, colour = report->wants_colour()](report_stream& out) {
    if (!json) return write_queues_text(out, *seen, colour);
    json_writer document(out);
    write_queues(document, *seen);
    out.put('\n');
  });
  if (signal) {
    complain_of_signal(signal->number, *seen);
    return status_by_signal(signal->number);
  }
  return rank_failed ? status_rank_failed : status_ok;
}

}  // namespace mpiacq::tool
