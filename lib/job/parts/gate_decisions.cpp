// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/gate_decisions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

namespace {

using mpi2dd::mpi_flag;

constexpr std::size_t most_hosts_named = 4;

/// Entries of a process table that are on other nodes, and the names of those nodes.
struct remote_ranks {
  rank_set entries;
  std::set<std::string> hosts;
};

std::string names_of(const std::set<std::string>& hosts) {
  std::vector<std::string> named(hosts.begin(), hosts.end());
  const std::size_t more = named.size() - std::min(named.size(), most_hosts_named);
  named.resize(named.size() - more);
  if (more != 0) named.push_back(fmt::format("{} more", more));
  return fmt::format("{}", fmt::join(named, ", "));
}

error remote_gates_stay_closed(const process_table& table, const remote_ranks& remote, process_id parent) {
  const std::string names = table.names().text(remote.entries);
  const std::string where = remote.entries.count() == 1 ? fmt::format("rank {} is on another node", names)
                                                        : fmt::format("ranks {} are on other nodes", names);
  return error{
      error_code::unsupported,
      fmt::format("{} ({}), where this tool opens no gates: process {} is told that it is not debugged, so that its "
                  "ranks do not wait in MPI_Init. A rank that waits nevertheless goes on after 'mpiacq attach' "
                  "to it on its node",
                  where, names_of(remote.hosts), parent.value())};
}

}  // namespace

bool waits_at_gate(rank_origins& origins, process_id starter, std::string_view host, process_id rank) {
  const rank_origin from = origins.origin_of(host, rank);
  const auto parent = from.spawned ? from.by : std::optional{starter};
  return !parent || !origins.flags_of(*parent).has(mpi_flag::partial_attach_ok);
}

flags_about_rank flags_about(rank_origins& origins, process_id starter, std::string_view host, process_id rank,
                             bool is_local) {
  flags_about_rank all;
  all.starters = origins.flags_of(starter);
  if (const auto parent = origins.origin_of(host, rank).by) all.parents = origins.flags_of(*parent);
  if (is_local) all.own = origins.flags_of(rank);
  return all;
}

gate_decisions::decision gate_decisions::decide(const process_table& table,
                                                const std::function<bool(entry_index)>& is_local, process_id parent,
                                                process_id starter, rank_origins& origins) {
  parent_ = parent;
  is_refused_ = false;
  remote_ranks remote;
  std::set<std::uint32_t> worlds;
  for (const entry_index entry : table.entries()) {
    const std::uint32_t world = table.names().world(entry);
    if (settled_worlds_.contains(world)) continue;
    const auto host = table.host_name(entry).value_or("");
    const rank_origin from = origins.origin_of(host, table.pid(entry));
    const bool is_its_own = from.spawned ? from.by == parent : parent == starter;
    if (!is_its_own) continue;
    worlds.insert(world);
    if (is_local(entry) || !waits_at_gate(origins, starter, host, table.pid(entry))) continue;
    remote.entries.add(entry);
    remote.hosts.insert(host.empty() ? "a host without a known name" : std::string(host));
  }
  worlds.erase(rank_names::no_world);
  settled_worlds_.merge(worlds);
  if (remote.entries.empty() || opens_remote_gates_) return {true, std::nullopt};
  return {false, remote_gates_stay_closed(table, remote, parent)};
}

bool gate_decisions::open_no_remote_gates() {
  return std::exchange(opens_remote_gates_, false);
}

std::optional<process_id> gate_decisions::take_refused_parent() {
  const auto parent = std::exchange(parent_, std::nullopt);
  return std::exchange(is_refused_, false) ? parent : std::nullopt;
}

}  // namespace mpiacq
