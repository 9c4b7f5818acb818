// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "elsewhere_ranks.hpp"
#include "node/job_rank_search.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq {

elsewhere_ranks ranks_by_agents(const std::vector<std::string>& hosts, const std::vector<std::string>& keys,
                                const agents_options& options) {
  agents::node_agents all(options);
  std::vector<agents::agent_node> nodes;
  for (const std::string& host : hosts) nodes.push_back({host, {}});
  all.reach(std::move(nodes));
  agents::ask_job_ranks asked;
  for (const std::string& key : keys) asked.keys.push_back(agents::to_digits(key));
  all.ask(std::move(asked));
  std::unordered_map<std::uint32_t, std::size_t> node_of_agent;
  for (std::size_t node = 0; node < all.size(); ++node) {
    if (all.agent(node) != 0) node_of_agent.emplace(all.agent(node), node);
  }
  elsewhere_ranks found;
  std::unordered_map<std::size_t, std::uint64_t> left_out;
  for (agents::agent_job_ranks& told : all.collect<agents::job_ranks_part>().of) {
    const auto node = node_of_agent.find(told.agent);
    if (node == node_of_agent.end()) continue;
    left_out[node->second] = told.left_out;
    for (agents::job_rank& one : told.ranks) {
      found.ranks.push_back({all.host(node->second), one.world, one.rank, one.pid, std::move(one.executable)});
    }
    node_of_agent.erase(node);  // an agent answers once
  }
  for (std::size_t node = 0; node < all.size(); ++node) {
    graph_host host{all.host(node), all.why(node)};
    if (!host.why && left_out[node] != 0) {
      host.why = error{error_code::limit, fmt::format("{} ranks of {} do not fit into a message between nodes",
                                                      left_out[node], all.host(node))};
    }
    found.hosts.push_back(std::move(host));
  }
  return found;
}

}  // namespace mpiacq
