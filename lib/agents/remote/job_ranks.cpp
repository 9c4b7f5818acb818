// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/job_ranks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/no_exceptions.hpp"
#include "mpiacq/job/job.hpp"
#include "remote/awaited_agents_state.hpp"
#include "remote/job_ranks_state.hpp"

namespace mpiacq {

namespace {

constexpr std::string_view looking_for_ranks = "looking for the job's ranks";

/// The ranks of all of them. Those with the lowest come first, so that a union mostly adds at the end: it is a pass
/// over what is there else, and there may be as many reasons as ranks.
rank_set all_ranks_of(const std::vector<refused_ranks>& refused) {
  std::vector<const rank_set*> sets;
  for (const refused_ranks& one : refused) sets.push_back(&one.ranks);
  std::sort(sets.begin(), sets.end(), [](const rank_set* a, const rank_set* b) { return a->lowest() < b->lowest(); });
  rank_set all;
  for (const rank_set* ranks : sets) all.add(*ranks);
  return all;
}

/// With the user whose table it is.
agents_options agents_of(const process_table& table, const job_ranks_options& options) {
  agents_options how = options.agents;
  if (!how.user) how.user = table.user();
  return how;
}

}  // namespace

std::string_view name(agent_start start) {
  switch (start) {
    case agent_start::automatic:
      return "automatic";
    case agent_start::mpir:
      return "mpir";
    case agent_start::slurm:
      return "slurm";
    case agent_start::ssh:
      return "ssh";
    case agent_start::none:
      break;
  }
  return "none";
}

job_ranks::job_ranks(std::unique_ptr<state> s) : state_(std::move(s)) {}
job_ranks::~job_ranks() {
  if (::getpid() == state_->made_in) return;
  // A forked child: the agents are the parent's, and libzmq's threads are not there to be ended. What it has stays.
  static_cast<void>(state_->agents.release());
}

std::span<const job_node> job_ranks::nodes() const {
  return state_->nodes;
}

std::span<const rank_process> job_ranks::ranks() const {
  return state_->ranks;
}

result<std::unique_ptr<job_ranks>> job_ranks::create(const process_table& table, const rank_selection& selection,
                                                     const job_ranks_options& options) {
  return without_exceptions(looking_for_ranks, [&] {
    return state::make(table, selection, options, std::make_unique<agents::node_agents>(agents_of(table, options)));
  });
}

result<std::unique_ptr<job_ranks>> job_ranks::create(job& subject, const rank_selection& selection,
                                                     const job_ranks_options& options) {
  return without_exceptions(looking_for_ranks, [&]() -> result<std::unique_ptr<job_ranks>> {
    auto local = subject.look_into(selection, options.node);
    if (!local) return fail(std::move(local).error());
    job_ranks_options how = options;
    how.agents.everywhere = false;
    auto far = std::make_unique<agents::node_agents>(agents_of(*subject.processes(), how));
    return state::make(*subject.processes(), selection, how, std::move(far), std::move(*local));
  });
}

result<std::unique_ptr<job_ranks>> job_ranks::create(const process_table& table, const rank_selection& selection,
                                                     const job_ranks_options& options, awaited_agents&& coming) {
  return without_exceptions(looking_for_ranks, [&] {
    coming.state_->agents->know(agents_of(table, options));
    return state::make(table, selection, options, std::move(coming.state_->agents));
  });
}

result<std::unique_ptr<job_ranks>> job_ranks::state::make(const process_table& table, const rank_selection& selection,
                                                          const job_ranks_options& options,
                                                          std::unique_ptr<agents::node_agents> far,
                                                          std::unique_ptr<node_ranks> here) {
  auto made = std::make_unique<state>(options, std::move(far));
  made->list_nodes(table, selection);
  made->local = std::move(here);
  if (!made->local) {
    auto local = node_ranks::create(made->ranks_here(), options.node);
    if (!local) return fail(std::move(local).error());
    made->local = std::move(*local);
  }
  made->reach_others();
  return std::unique_ptr<job_ranks>(new job_ranks(std::move(made)));
}

void job_ranks::state::list_nodes(const process_table& table, const rank_selection& selection) {
  const std::vector<bool> is_local =
      options.agents.everywhere ? std::vector<bool>(table.string_count(), false) : hosts_on_this_node(table);
  const auto hosts = table.host_numbers();
  std::vector<bool> is_host(table.string_count(), false);
  for (const std::uint32_t host : hosts) {
    if (host != process_table::no_string) is_host[host] = true;
  }
  all_hosts = static_cast<std::size_t>(std::count(is_host.begin(), is_host.end(), true));
  std::map<std::uint32_t, std::size_t> node_of_host;
  for (const std::uint32_t entry : table.names().selected(selection, table.size())) {
    const std::uint32_t host = hosts[entry];
    const bool local_one = host != process_table::no_string && is_local[host];
    const auto [known, is_new] = node_of_host.try_emplace(host, nodes.size());
    if (is_new) {
      nodes.push_back({std::string(table.host_name(entry).value_or("")), {}, local_one, std::nullopt});
      if (host == process_table::no_string)
        nodes.back().why = error{error_code::not_found, "the process table does not say on which host it is"};
    }
    nodes[known->second].ranks.add(entry);
    ranks.push_back({entry, table.pid(entry), std::string(table.executable_name(entry).value_or("")),
                     table.names().rank(entry), table.names().of(entry), table.user()});
    node_of_rank.push_back(known->second);
  }
}

std::vector<std::vector<rank_process>> job_ranks::state::ranks_by_nodes() const {
  std::vector<std::vector<rank_process>> all(nodes.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) all[node_of_rank[i]].push_back(ranks[i]);
  return all;
}

std::vector<rank_process> job_ranks::state::ranks_among(const rank_set& which) const {
  std::vector<rank_process> some;
  for (const rank_set::range& range : which.ranges()) {
    const auto first =
        std::lower_bound(ranks.begin(), ranks.end(), range.first,
                         [](const rank_process& rank, std::uint32_t least) { return rank.rank < least; });
    for (auto rank = first; rank != ranks.end() && rank->rank <= range.last; ++rank) some.push_back(*rank);
  }
  return some;
}

std::vector<rank_process> job_ranks::state::ranks_here() const {
  std::vector<rank_process> some;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (nodes[node_of_rank[i]].local) some.push_back(ranks[i]);
  }
  return some;
}

void job_ranks::state::reach_others() {
  auto by_nodes = ranks_by_nodes();
  std::vector<agents::agent_node> wanted;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].local || nodes[i].why) continue;
    wanted.push_back({nodes[i].host, std::move(by_nodes[i])});
    far_nodes.push_back(i);
  }
  const std::size_t idle = all_hosts - std::min(all_hosts, wanted.size());
  agents->reach(std::move(wanted), idle);
  agents->expect_no_more();
  note_reasons();
}

void job_ranks::state::note_reasons() {
  for (std::size_t i = 0; i < far_nodes.size(); ++i) nodes[far_nodes[i]].why = agents->why(i);
}

error job_ranks::state::why_not(std::size_t node) const {
  return nodes[node].why.value_or(error{error_code::system, "its node says nothing of it"});
}

std::vector<rank_set> job_ranks::state::local_ranks() const {
  std::vector<rank_set> all;
  for (const job_node& node : nodes) {
    if (node.local) all.push_back(node.ranks);
  }
  return all;
}

std::vector<refused_ranks> job_ranks::state::missing_of(const rank_selection& which, const rank_set& told) const {
  std::vector<rank_set> missing(nodes.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::uint32_t rank = ranks[i].rank;
    if (which.contains(rank) && !told.contains(rank)) missing[node_of_rank[i]].add(rank);
  }
  std::vector<refused_ranks> all;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!missing[node].empty()) all.push_back({std::move(missing[node]), why_not(node)});
  }
  return all;
}

std::vector<rank_hold> job_ranks::hold() {
  state& s = *state_;
  s.agents->ask(agents::ask_hold{});
  std::map<std::uint32_t, rank_hold> known;
  for (rank_hold& rank : s.local->hold()) known.emplace(rank.rank, std::move(rank));
  auto answer = s.collect<agents::hold_part>();
  for (rank_hold& rank : answer.others) known.emplace(rank.rank, std::move(rank));
  std::vector<rank_hold> all;
  for (std::size_t i = 0; i < s.ranks.size(); ++i) {
    const rank_process& rank = s.ranks[i];
    if (const auto told = known.find(rank.rank); told != known.end()) {
      all.push_back(std::move(told->second));
    } else if (answer.held.contains(rank.rank)) {
      all.push_back({rank.rank, rank.pid, hold_state::held, std::nullopt});
    } else {
      all.push_back({rank.rank, rank.pid, hold_state::failed, s.why_missing(i)});
    }
  }
  return all;
}

std::vector<result<void>> job_ranks::release(leave how) {
  state& s = *state_;
  s.agents->ask(agents::ask_release{how});
  std::map<std::uint32_t, result<void>> known;
  const auto here = s.local->release(how);
  for (std::size_t i = 0; i < here.size(); ++i) known.emplace(s.local->ranks()[i].rank, here[i]);
  for (const agents::refused_part& refused : s.collect<agents::release_part>().refused) {
    for (const rank_process& rank : s.ranks_among(refused.ranks)) known.emplace(rank.rank, fail(refused.why));
  }
  std::vector<result<void>> all;
  for (const rank_process& rank : s.ranks) {
    const auto told = known.find(rank.rank);
    all.push_back(told == known.end() ? result<void>() : std::move(told->second));
  }
  return all;
}

opened_gates job_ranks::open_gates(const gate_options& how) {
  state& s = *state_;
  s.agents->ask(agents::ask_gates{how.ranks, how.interface, how.limit, s.options.node.debug_files.folders});
  auto told = s.collect<agents::gates_part>();
  opened_gates all{std::move(told.open), std::move(told.without), {}};
  rank_set known = all.open;
  known.add(all.without);
  for (const rank_set& local : s.local_ranks()) known.add(local);
  for (agents::refused_part& refused : told.refused) {
    known.add(refused.ranks);
    all.refused.push_back({std::move(refused.ranks), std::move(refused.why)});
  }
  for (refused_ranks& missing : s.missing_of(how.ranks, known)) all.refused.push_back(std::move(missing));
  return all;
}

std::unique_ptr<node_ranks> job_ranks::take_local() {
  return std::move(state_->local);
}

job_stacks merged(node_stacks&& taken) {
  job_stacks all;
  // One reason may be that of very many ranks.
  std::map<std::string, std::size_t> place_of;
  for (const rank_stacks& rank : taken.ranks) {
    if (!rank.taken) {
      const auto [at, is_new] = place_of.try_emplace(rank.taken.error().message, all.refused.size());
      if (is_new) all.refused.push_back({{}, rank.taken.error()});
      all.refused[at->second].ranks.add(rank.rank);
      continue;
    }
    all.taken.add(rank.rank);
    for (const thread_stack& stack : rank.threads) all.tree.add(rank.rank, stack);
  }
  all.held_for = taken.held_for;
  all.problems = std::move(taken.problems);
  return all;
}

job_stacks job_ranks::stacks(const stack_options& options) {
  return without_exceptions(
      "taking stacks", [&] { return state_->take_stacks(options); }, [] {});
}

job_stacks job_ranks::state::take_stacks(const stack_options& asked) {
  state& s = *this;
  s.agents->ask(agents::ask_stacks{asked, s.options.node.debug_files.folders});
  job_stacks all = merged(s.local->stacks(asked));
  auto answer = s.collect<agents::stacks_part>();
  all.tree.merge(answer.tree);
  all.taken.add(answer.taken);
  rank_set told = all.taken;
  for (const agents::refused_part& refused : answer.refused) all.refused.push_back({refused.ranks, refused.why});
  told.add(all_ranks_of(all.refused));
  for (refused_ranks& missing : s.missing_of(asked.ranks, told)) all.refused.push_back(std::move(missing));
  all.held_for = std::max(all.held_for, answer.held_for);
  all.problems.insert(all.problems.end(), answer.problems.begin(), answer.problems.end());
  return all;
}

node_queues job_ranks::queues(const rank_queue_options& options) {
  return without_exceptions(
      "reading message queues", [&] { return state_->read_queues(options); }, [] {});
}

node_queues job_ranks::state::read_queues(const rank_queue_options& asked) {
  state& s = *this;
  rank_queue_options how = asked;
  const bool is_sent = asked.host.isolation == queue_isolation::separate;
  const error not_sent{error_code::unsupported,
                       "it is on another node, where a queue library runs in a process of its own only"};
  if (is_sent) s.agents->ask(agents::ask_queues{asked});
  // Of agents it is known only once the ranks that are here have been read.
  std::size_t read_here = 0;
  const auto wanted = static_cast<std::size_t>(std::count_if(
      s.ranks.begin(), s.ranks.end(), [&](const rank_process& rank) { return asked.ranks.contains(rank.rank); }));
  if (asked.progress) {
    how.progress = [&](std::size_t read, std::size_t) { asked.progress(read_here = read, wanted); };
  }
  agents::answer_body all = s.local->queues(how);
  std::function<void(const agents::heartbeat&)> tell;
  if (asked.progress) {
    tell = [&](const agents::heartbeat& far) {
      asked.progress(std::min<std::size_t>(wanted, read_here + far.done), wanted);
    };
  }
  if (is_sent) agents::merge(all, s.collect<node_queues>(std::move(tell)));
  if (s.agents->is_stopped()) std::get<node_queues>(all).stopped = true;
  auto& seen = std::get<node_queues>(all);
  rank_set told;
  for (const rank_queues& rank : seen.ranks) told.add(rank.rank);
  node_queues missing;
  for (std::size_t i = 0; i < s.ranks.size(); ++i) {
    const rank_process& rank = s.ranks[i];
    if (told.contains(rank.rank) || !asked.ranks.contains(rank.rank)) continue;
    missing.ranks.push_back({rank.rank, rank.pid, fail(is_sent ? s.why_missing(i) : not_sent)});
    missing.doing.emplace_back();
    missing.pml.emplace_back();
  }
  agents::merge(all, std::move(missing));
  return std::move(seen);
}

}  // namespace mpiacq
