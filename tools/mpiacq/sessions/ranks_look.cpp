// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/ranks_look.hpp"

#include <utility>

#include "commands/agents_choice.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

result<ranks_look> look_for_ranks(process_id named, const observation_options& options, const signal_catcher& signals) {
  ranks_look look;
  look.search = search_without_downloads(options.report);
  const deadline until = deadline_after(options.timeout);
  find_options how{{}, look.search, options.source};
  if (options.agents != agent_start::none) how.agents = agents_for_tables(named, options.agents, signals.descriptor());
  how.hosts = options.hosts;
  auto job = TRY(job::find(named, how, until));
  look.job = std::move(job);
  auto ranks = TRY(ranks_of(options.ranks, look.job, options.queue, look.search, options.agents, signals.descriptor()));
  look.ranks = std::move(ranks);
  return look;
}

int status_without_ranks(signal_catcher& signals) {
  const auto signal = signals.take();
  return signal ? status_by_signal(signal->number) : status_tool_failed;
}

}  // namespace mpiacq::tool
