// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes the group of a job's ranks: finds the nodes of the selected ranks, and the backend of each.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "group_parts.hpp"
#include "local_ranks.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "remote/awaited_agents_state.hpp"
#include "remote/remote_ranks.hpp"

namespace mpiacq {

namespace {

/// The selected ranks, grouped by the hosts of the process table.
struct ranks_by_nodes {
  std::vector<job_node> here;
  std::vector<rank_process> ranks_here;
  std::vector<agents::remote_node> elsewhere;
  std::size_t all_hosts = 0;  ///< of the job, including those without a selected rank
};

std::size_t hosts_of(const process_table& table) {
  std::vector<bool> is_host(table.string_count(), false);
  for (const std::uint32_t host : table.host_numbers()) {
    if (host != process_table::no_string) is_host[host] = true;
  }
  return static_cast<std::size_t>(std::count(is_host.begin(), is_host.end(), true));
}

/// `everywhere`: this node also gets an agent.
ranks_by_nodes list_nodes(const job_description& job, const rank_selection& selection, bool everywhere) {
  const process_table& table = *job.processes;
  const auto hosts = table.host_numbers();
  ranks_by_nodes found;
  found.all_hosts = hosts_of(table);
  std::map<std::uint32_t, std::size_t> places;
  for (const entry_index entry : job.selected(selection)) {
    const bool is_here = !everywhere && job.is_local(entry);
    const auto place = is_here ? found.here.size() : found.elsewhere.size();
    const auto [known, is_new] = places.try_emplace(hosts[entry.value()], place);
    if (is_new) {
      job_node node{std::string(table.host_name(entry).value_or("")), {}, is_here, std::nullopt};
      if (hosts[entry.value()] == process_table::no_string)
        node.why = error{error_code::not_found, "the process table does not say on which host it is"};
      if (is_here) {
        found.here.push_back(std::move(node));
      } else {
        found.elsewhere.push_back({std::move(node), {}});
      }
    }
    rank_process rank = rank_of(table, entry);
    if (is_here) {
      found.here[known->second].ranks.add(entry);
      found.ranks_here.push_back(std::move(rank));
    } else {
      found.elsewhere[known->second].node.ranks.add(entry);
      found.elsewhere[known->second].ranks.push_back(std::move(rank));
    }
  }
  return found;
}

/// Completes the caller's options from the job's description.
agents_options completed(agents_options how, const job_description& job, int stop) {
  if (!how.user) how.user = job.processes->user();
  // A starter of another launcher can run inside a Slurm job, and its description then lacks the job's id.
  if (how.job_id.empty())
    how.job_id = job.facts.job_id ? *job.facts.job_id : slurm_job_of(job.starter.pid).value_or("");
  if (how.stop < 0) how.stop = stop;
  return how;
}

}  // namespace

std::string_view name(agent_start start) {
  switch (start) {
    case agent_start::automatic:
      return "automatic";
    case agent_start::mpir:
      return "mpir";
    case agent_start::pmix:
      return "pmix";
    case agent_start::slurm:
      return "slurm";
    case agent_start::ssh:
      return "ssh";
    case agent_start::none:
      break;
  }
  return "none";
}

namespace {

/// `coming`: agents that the job's starter launches; null: this function starts agents.
result<rank_group> group_of(const job_description& job, const rank_options& options, std::shared_ptr<node_ranks> here,
                            std::unique_ptr<agents::node_agents> coming) {
  if (!job.processes) return fail(error_code::invalid_argument, "the job has no processes yet");
  const rank_selection selection = TRY(options.select.selection());
  auto parts = std::make_unique<group_parts>(options);
  parts->table = job.processes;
  if (!parts->options.queues.starter && job.starter.pid != process_id{})
    parts->options.queues.starter = job.starter.pid;
  auto nodes = list_nodes(job, selection, options.agents && options.agents->everywhere && !here);
  if (!here) here = TRY(node_ranks::create(std::move(nodes.ranks_here), {options.tracing, options.debug_files}));
  parts->add(std::make_unique<local_ranks>(std::move(here), std::move(nodes.here)));
  if (options.agents && (!nodes.elsewhere.empty() || coming)) {
    const agents_options how = completed(*options.agents, job, parts->limit.get());
    if (coming) {
      coming->know(how);
    } else {
      coming = std::make_unique<agents::node_agents>(how);
    }
    parts->add(std::make_unique<agents::remote_ranks>(options, std::move(coming), std::move(nodes.elsewhere),
                                                      nodes.all_hosts));
  }
  return group_parts::make(std::move(parts));
}

constexpr std::string_view looking_for_ranks = "looking for the job's ranks";

}  // namespace

result<rank_group> make_rank_group(const job_description& job, const rank_options& options,
                                   std::shared_ptr<node_ranks> here) {
  return without_exceptions(looking_for_ranks, [&] { return group_of(job, options, std::move(here), nullptr); });
}

result<rank_group> job_description::ranks(const rank_options& options) const {
  return without_exceptions(looking_for_ranks, [&] {
    rank_options how = options;
    const bool may_ask = facts.can_launch_daemons || (how.agents && how.agents->start == agent_start::mpir);
    // A starter that this program traces already cannot be traced by another tracer.
    if (how.agents && !how.agents->starter && may_ask && !is_controlled) how.agents->starter = starter.pid;
    if (how.agents && !how.agents->pmix_server && source == interface_kind::pmix) how.agents->pmix_server = starter.pid;
    return group_of(*this, how, nullptr, nullptr);
  });
}

result<rank_group> job_description::ranks(const rank_options& options, awaited_agents&& coming) const {
  if (facts.daemons == mpir::daemon_launch::refused) return ranks(options);
  return without_exceptions(looking_for_ranks,
                            [&] { return group_of(*this, options, nullptr, std::move(coming.state_->agents)); });
}

}  // namespace mpiacq
