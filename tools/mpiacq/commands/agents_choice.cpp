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
  // Who asks for agents gets them: also for nodes that are names for this machine.
  options.everywhere = wanted != agent_start::automatic;
  options.stop = stop;
  options.progress = [line = std::make_shared<progress_line>(true)](const agents_progress& seen) {
    if (seen.over) return line->clear();
    line->show(fmt::format("agents of {} of {} nodes have come", seen.arrived, seen.wanted));
  };
  return options;
}

std::optional<agents_options> agents_for_table(const process_table& table, const std::vector<bool>& is_local,
                                               const rank_selection& ranks, const mpir::job_facts& facts,
                                               process_id starter, agent_start wanted, int stop) {
  if (wanted == agent_start::none) return std::nullopt;
  const auto selected = table.names().selected(ranks, table.size());
  // Where no host is named there is nobody to start an agent at.
  const bool some_are_elsewhere = std::any_of(selected.begin(), selected.end(), [&](std::uint32_t rank) {
    return !is_local[rank] && table.host_name(rank).has_value();
  });
  if (wanted == agent_start::automatic && !some_are_elsewhere) return std::nullopt;
  agents_options options = agents_by(wanted, stop);
  // A starter that is not Slurm's own may be in a job of Slurm's all the same, and does not say it.
  options.job_id = facts.job_id ? *facts.job_id : slurm_job_of(starter).value_or("");
  return options;
}

node_ranks_options ranks_options(const report_options& report) {
  node_ranks_options options;
  options.debug_files = search_without_downloads(report);
  return options;
}

std::size_t hosts_in(const process_table& table) {
  const auto hosts = table.host_numbers();
  return std::set<std::uint32_t>(hosts.begin(), hosts.end()).size();
}

}  // namespace

std::optional<agents_options> agents_for(const job_view& job, const rank_selection& ranks, agent_start wanted,
                                         int stop) {
  auto options = agents_for_table(*job.processes, job.is_local, ranks, job.facts, job.starter.pid, wanted, stop);
  if (options && (job.facts.can_launch_daemons || wanted == agent_start::mpir)) options->starter = job.starter.pid;
  return options;
}

bool open_gates_elsewhere(const job_command_options& options) {
  const bool starts_some = options.stacks || options.queues || options.agents != agent_start::automatic;
  return starts_some && options.agents != agent_start::none;
}

/// A selection of some would leave the gates of all others closed.
rank_selection agents_of_job::selection(bool with_gates) const {
  return with_gates ? rank_selection{} : options_.ranks.selection;
}

bool agents_of_job::are_wanted() const {
  return (options_.stacks || options_.queues) && options_.agents != agent_start::none;
}

result<std::optional<mpir::daemon_request>> agents_of_job::request() {
  const bool only_so = options_.agents == agent_start::mpir;
  // A starter launches one program: the user's own, where there is one.
  if (!are_wanted() || options_.daemons || !(only_so || options_.agents == agent_start::automatic)) return std::nullopt;
  auto opened = awaited_agents::open(agents_by(options_.agents, stop_));
  if (!opened && only_so) return fail(std::move(opened).error());
  if (!opened) return std::nullopt;
  coming_ = std::move(*opened);
  return coming_->request();
}

void agents_of_job::reach(process_id named) {
  const look_options how{{}, ranks_options(options_.report).debug_files, options_.interface};
  if (!are_wanted() && !open_gates()) return;
  const auto job = look_at_job(named, how);
  if (!job) return;  // it has no table yet, or the attach will say why there is none
  const bool with_gates = open_gates() && !job->facts.partial_attach_ok;
  if (!are_wanted() && !with_gates) return;
  if (job->interface == interface_kind::mpi2dd)
    return;  // nobody can be asked, and the job looks after its ranks itself
  const rank_selection ranks = selection(with_gates);
  const auto agents = agents_for(*job, ranks, options_.agents, stop_);
  if (agents) take(job_ranks::create(*job->processes, ranks, {ranks_options(options_.report), *agents}));
}

std::shared_ptr<job_ranks> agents_of_job::ranks(job& subject, const rank_set& others) {
  const auto table = subject.processes();
  if (nodes_ || !(are_wanted() || !others.empty()) || !table) return nodes_;
  const rank_selection selected = selection(!others.empty() || (open_gates() && !subject.gates_elsewhere().empty()));
  std::vector<bool> is_local;
  for (std::size_t i = 0; i < table->size(); ++i) is_local.push_back(subject.is_local(i));
  auto coming = std::exchange(coming_, std::nullopt);
  if (subject.facts().daemons == mpir::daemon_launch::refused) coming.reset();
  const auto agents =
      agents_for_table(*table, is_local, selected, subject.facts(), subject.starter().pid, options_.agents, stop_);
  if (!agents) {
    if (coming) coming->send_away(hosts_in(*table));
    return nullptr;
  }
  const job_ranks_options how{ranks_options(options_.report), *agents};
  // With MPI2DD the job itself traces the ranks of this node, and nobody else can.
  if (subject.interface() == interface_kind::mpi2dd) {
    take(job_ranks::create(subject, selected, how));
  } else {
    take(coming ? job_ranks::create(*table, selected, how, std::move(*coming))
                : job_ranks::create(*table, selected, how));
  }
  return nodes_;
}

void agents_of_job::take(result<std::unique_ptr<job_ranks>> nodes) {
  if (!nodes) return complain(nodes.error());
  nodes_ = std::move(*nodes);
  complain_of_nodes(*nodes_);
}

agents_options agents_for_tables(process_id named, agent_start wanted, int stop) {
  agents_options options = agents_by(wanted, stop);
  if (wanted == agent_start::mpir) options.starter = named;
  return options;
}

namespace {

/// With what to type, where a host was not reached because its name comes from another user's process.
void complain_of(const std::string& host, const error& why) {
  const bool is_unasked = why.code == error_code::permission && why.message.starts_with("no agent was started");
  complain(fmt::format("{}: {}{}", host, why.message, is_unasked ? " (--agents ssh)" : ""));
}

}  // namespace

void complain_of_nodes(const job_ranks& ranks) {
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
