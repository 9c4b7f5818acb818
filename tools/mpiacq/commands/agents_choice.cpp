// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/agents_choice.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/progress_line.hpp"

namespace mpiacq::tool {

namespace {

agents_options agents_by(agent_start wanted, int stop) {
  agents_options options;
  options.start = wanted;
  // If the user requests agents, they are started on all nodes, including those whose names mean this machine.
  options.everywhere = wanted != agent_start::automatic;
  options.stop = stop;
  options.progress = [line = std::make_shared<progress_line>(true)](const agents_progress& seen) {
    if (seen.over) return line->clear();
    line->show(fmt::format("agents of {} of {} nodes have come", seen.arrived, seen.wanted));
  };
  return options;
}

std::optional<agents_options> agents_for(const job_description& job, const rank_selection& ranks, agent_start wanted,
                                         int stop) {
  if (wanted == agent_start::none) return std::nullopt;
  const auto selected = job.selected(ranks);
  // An entry without a host names no node on which to start an agent.
  const bool some_are_elsewhere = std::any_of(selected.begin(), selected.end(), [&](entry_index entry) {
    return !job.is_local(entry) && job.processes->host_name(entry).has_value();
  });
  if (wanted == agent_start::automatic && !some_are_elsewhere) return std::nullopt;
  return agents_by(wanted, stop);
}

std::size_t hosts_in(const process_table& table) {
  const auto hosts = table.host_numbers();
  return std::set<std::uint32_t>(hosts.begin(), hosts.end()).size();
}

}  // namespace

rank_options ranks_at(const job_description& job, const rank_selection& ranks, const debug_file_search& search,
                      agent_start wanted, int stop) {
  rank_options how;
  how.select = ranks;
  how.until.stop = stop;
  how.debug_files = search;
  how.agents = agents_for(job, ranks, wanted, stop);
  return how;
}

bool open_gates_elsewhere(const job_command_options& options) {
  const bool starts_some = options.stacks || options.queues || options.agents != agent_start::automatic;
  return starts_some && options.agents != agent_start::none;
}

/// With a selection of some ranks, the gates of all others would stay closed.
rank_selection agents_of_job::selection(bool with_gates) const {
  return with_gates ? rank_selection{} : options_.ranks.selection;
}

bool agents_of_job::are_wanted() const {
  return (options_.stacks || options_.queues) && options_.agents != agent_start::none;
}

result<std::optional<mpir::daemon_request>> agents_of_job::request() {
  const bool only_so = options_.agents == agent_start::mpir;
  // A starter launches one daemon program. The user's own comes first.
  if (!are_wanted() || options_.daemons || !(only_so || options_.agents == agent_start::automatic)) return std::nullopt;
  auto opened = awaited_agents::open(agents_by(options_.agents, stop_));
  if (!opened && only_so) return fail(std::move(opened).error());
  if (!opened) return std::nullopt;
  coming_ = std::move(*opened);
  return coming_->request();
}

void agents_of_job::reach(process_id named) {
  const debug_file_search search = search_without_downloads(options_.report);
  if (!are_wanted() && !open_gates()) return;
  const auto job = job::find(named, {{}, search, options_.source});
  if (!job) return;  // it has no table yet, or the attach will report why
  const bool with_gates = open_gates() && !job->facts.partial_attach_ok;
  if (!are_wanted() && !with_gates) return;
  // The starter has no table to ask for. The attach finds the ranks itself.
  if (job->source != interface_kind::mpir) return;
  const rank_options how = ranks_at(*job, selection(with_gates), search, options_.agents, stop_);
  if (how.agents) take(job->ranks(how));
}

std::shared_ptr<rank_group> agents_of_job::ranks(job& subject, const rank_set& others) {
  const job_description now = subject.description();
  if (nodes_ || !(are_wanted() || !others.empty()) || !now.processes) return nodes_;
  const rank_selection selected = selection(!others.empty() || (open_gates() && !subject.gates_elsewhere().empty()));
  auto coming = std::exchange(coming_, std::nullopt);
  if (now.facts.daemons == mpir::daemon_launch::refused) coming.reset();
  rank_options how = ranks_at(now, selected, search_without_downloads(options_.report), options_.agents, stop_);
  if (!how.agents) {
    if (coming) coming->send_away(hosts_in(*now.processes));
    return nullptr;
  }
  if (now.source == interface_kind::pmix) how.agents->pmix_server = now.starter.pid;
  if (now.source == interface_kind::mpir) {
    take(coming ? now.ranks(how, std::move(*coming)) : now.ranks(how));
    return nodes_;
  }
  // The job may trace ranks of this node, so that no other tracer can. Its own group starts its agents itself.
  if (coming) coming->send_away(hosts_in(*now.processes));
  take(subject.ranks(how));
  return nodes_;
}

void agents_of_job::take(result<rank_group> nodes) {
  if (!nodes) return complain(nodes.error());
  nodes_ = std::make_shared<rank_group>(std::move(*nodes));
  complain_of_nodes(*nodes_);
}

agents_options agents_for_tables(process_id named, agent_start wanted, int stop) {
  agents_options options = agents_by(wanted, stop);
  if (wanted == agent_start::mpir) options.starter = named;
  if (wanted == agent_start::pmix) options.pmix_server = named;
  return options;
}

namespace {

/// Prints the reason, and the option that helps if a host was not reached because its name comes from another user's
/// process.
void complain_of(const std::string& host, const error& why) {
  const bool is_unasked = why.code == error_code::permission && why.message.starts_with("no agent was started");
  complain(fmt::format("{}: {}{}", host, why.message, is_unasked ? " (--agents ssh)" : ""));
}

}  // namespace

void complain_of_nodes(const rank_group& ranks) {
  for (const job_node& node : ranks.nodes()) {
    if (node.why) complain_of(node.host, *node.why);
  }
}

void complain_of_nodes(const job_graph& graph) {
  for (const graph_host& other : graph.others) {
    if (other.why) complain_of(other.host, *other.why);
  }
}

}  // namespace mpiacq::tool
