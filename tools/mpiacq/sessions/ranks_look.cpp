// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/ranks_look.hpp"

#include <utility>

#include "commands/agents_choice.hpp"
#include "commands/chosen_job.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

result<ranks_look> look_at(process_id named, const observation_options& options, const signal_catcher& signals) {
  ranks_look look;
  const debug_file_search search = search_without_downloads(options.report);
  const int stop = signals.descriptor();
  const deadline until = deadline_after(options.timeout);
  find_options how{{}, search, options.source};
  if (options.agents != agent_start::none) how.agents = agents_for_tables(named, options.agents, stop);
  how.hosts = options.hosts;
  auto job = TRY(job::find(named, how, until));
  look.job = std::move(job);
  auto selection = TRY(ranks_of(options.ranks, look.job, options.queue, search, options.agents, stop));
  look.selection = std::move(selection);
  auto ranks = TRY(look.job.ranks(ranks_at(look.job, look.selection, search, options.agents, stop)));
  look.ranks = std::make_shared<rank_group>(std::move(ranks));
  return look;
}

}  // namespace

tl::expected<ranks_look, int> look_for_ranks(const observation_options& options, signal_catcher& signals) {
  const auto named = job_meant(options.job, options.report);
  if (!named) return tl::unexpected(status_tool_failed);
  auto look = look_at(*named, options, signals);
  if (!look) {
    complain(look.error());
    const auto signal = signals.take();
    return tl::unexpected(signal ? status_by_signal(signal->number) : status_tool_failed);
  }
  complain_of_nodes(*look->ranks);
  return std::move(*look);
}

}  // namespace mpiacq::tool
