// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "remote/remote_table_reader.hpp"

#include <optional>
#include <utility>

#include "mpiacq/process/process_user.hpp"
#include "tree/node_match.hpp"

namespace mpiacq::agents {

namespace {

/// The request to one agent, and the place of each account in the result.
struct agent_places {
  agent_visits asked;
  std::vector<std::size_t> places;
};

/// The index of the same host under another name, judged by the names alone; `wanted.size()` if there is none.
std::size_t same_host(const std::vector<agent_node>& wanted, const std::string& host) {
  const node_names named{"", host, "", {}};
  std::size_t i = 0;
  while (i < wanted.size() && !is_called(named, wanted[i].host)) ++i;
  return i;
}

agents_options in_job_of(process_id named, agents_options options) {
  if (!options.user) options.user = user_of(named);
  if (options.job_id.empty()) options.job_id = slurm_job_of(named).value_or("");
  return options;
}

}  // namespace

remote_table_reader::remote_table_reader(process_id named, const agents_options& options,
                                         const mpi2dd::walk_limits& limits, std::vector<std::string> debug_folders)
    : agents_(in_job_of(named, options)),
      limits_(limits),
      user_(user_of(named)),
      debug_folders_(std::move(debug_folders)) {}

mpi2dd::elsewhere_reader remote_table_reader::reader() {
  return [this](std::vector<mpi2dd::process_request> asked) { return read(std::move(asked)); };
}

/// Two names of one host give one node. Before its agent has arrived, only the names show that; afterwards the agent's
/// own names do.
void remote_table_reader::reach_hosts_of(const std::vector<mpi2dd::process_request>& asked) {
  std::vector<agent_node> wanted;
  const std::size_t first = agents_.size();
  for (const mpi2dd::process_request& one : asked) {
    if (nodes_.contains(one.host)) continue;
    hosts_.push_back(one.host);
    if (const auto known = agents_.find(one.host)) {
      nodes_.emplace(one.host, *known);
      continue;
    }
    const std::size_t place = same_host(wanted, one.host);
    nodes_.emplace(one.host, first + place);
    if (place == wanted.size()) wanted.push_back({one.host, {}});
  }
  if (!wanted.empty()) agents_.reach(std::move(wanted));
}

std::vector<mpi2dd::process_account> remote_table_reader::read(std::vector<mpi2dd::process_request> asked) {
  reach_hosts_of(asked);
  std::vector<mpi2dd::process_account> said(asked.size());
  std::vector<std::size_t> nodes;
  std::map<std::uint32_t, agent_places> by_agents;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    nodes.push_back(nodes_.at(asked[i].host));
    const std::uint32_t agent = agents_.agent(nodes.back());
    if (agent == 0) continue;
    agent_places& there = by_agents[agent];
    there.asked.agent = agent;
    there.asked.processes.push_back(std::move(asked[i]));
    there.places.push_back(i);
  }
  if (!by_agents.empty()) {
    ask_visits visits{{}, limits_.table, limits_.max_rereads, user_, debug_folders_};
    for (auto& [agent, there] : by_agents) visits.of.push_back(std::move(there.asked));
    agents_.ask(std::move(visits));
    account_maker accounts;
    for (agent_accounts& told : agents_.collect<visits_part>().of) {
      const auto there = by_agents.find(told.agent);
      if (there == by_agents.end() || told.said.size() != there->second.places.size()) continue;
      for (std::size_t i = 0; i < told.said.size(); ++i)
        said[there->second.places[i]] = accounts.make(std::move(told.said[i]));
    }
  }
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i].state == mpi2dd::visit_state::unreachable && !said[i].failure) said[i].failure = agents_.why(nodes[i]);
  }
  return said;
}

std::vector<graph_host> remote_table_reader::hosts() const {
  std::vector<graph_host> all;
  for (const std::string& host : hosts_) all.push_back({host, agents_.why(nodes_.at(host))});
  return all;
}

}  // namespace mpiacq::agents

namespace mpiacq {

namespace {

/// Creates the reader at the first request, because most jobs have no such process on another node.
class tables_when_asked final : public elsewhere_tables {
 public:
  tables_when_asked(process_id named, agents_options options, const mpi2dd::walk_limits& limits,
                    std::vector<std::string> debug_folders)
      : named_(named), options_(std::move(options)), limits_(limits), debug_folders_(std::move(debug_folders)) {}

  [[nodiscard]] mpi2dd::elsewhere_reader reader() override {
    return [this](std::vector<mpi2dd::process_request> asked) {
      if (!reader_) reader_.emplace(named_, options_, limits_, debug_folders_);
      return reader_->read(std::move(asked));
    };
  }
  [[nodiscard]] std::vector<graph_host> hosts() const override {
    return reader_ ? reader_->hosts() : std::vector<graph_host>{};
  }

 private:
  process_id named_;
  agents_options options_;
  mpi2dd::walk_limits limits_;
  std::vector<std::string> debug_folders_;
  std::optional<agents::remote_table_reader> reader_;
};

}  // namespace

std::unique_ptr<elsewhere_tables> tables_by_agents(process_id named, const agents_options& options,
                                                   const mpi2dd::walk_limits& limits,
                                                   std::vector<std::string> debug_folders) {
  return std::make_unique<tables_when_asked>(named, options, limits, std::move(debug_folders));
}

}  // namespace mpiacq
