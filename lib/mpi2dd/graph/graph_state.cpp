// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "graph/graph_state.hpp"

#include <algorithm>

namespace mpiacq::mpi2dd {

std::uint32_t graph_state::append(std::uint32_t host, std::int32_t pid) {
  hosts.push_back(host);
  for (column<std::uint32_t>* c : {&executables, &worlds, &spawns, &stated_by}) c->push_back(none);
  pids.push_back(pid);
  ranks.push_back(0);
  mentions.push_back(0);
  roles.push_back(0);
  return static_cast<std::uint32_t>(size() - 1);
}

std::uint32_t graph_state::process(std::uint32_t host, std::int32_t pid) {
  if (host == none || pid <= 0) return append(host, pid);
  const auto fresh = static_cast<std::uint32_t>(size());
  const std::uint32_t found = by_name.find_or_add(hosts, pids, host, pid, fresh);
  if (found == fresh) give(append(host, pid), identified);
  return found;
}

std::uint32_t graph_state::host_number(std::string_view name, const walk_options& options) {
  const std::uint32_t published = strings.number(name);
  if (!options.canonical_host) return published;
  const auto [known, is_new] = canonical_hosts.try_emplace(published, published);
  if (is_new) known->second = strings.number(options.canonical_host(strings[published]));
  return known->second;
}

std::uint32_t graph_state::world_of(std::string_view id) {
  const std::uint32_t text = strings.number(id);
  const auto [known, is_new] = world_numbers.try_emplace(text, static_cast<std::uint32_t>(world_rows.size()));
  if (is_new) world_rows.push_back({strings[text], 0, {}});
  return known->second;
}

std::uint32_t graph_state::spawn_of(std::uint32_t parent_world, std::int32_t parent_rank, std::int32_t sequence) {
  const auto [known, is_new] =
      spawn_numbers.try_emplace({parent_world, parent_rank, sequence}, static_cast<std::uint32_t>(spawn_rows.size()));
  if (is_new) {
    spawn_rows.push_back({parent_world == none ? std::nullopt : std::optional{world_number{parent_world}}, parent_rank,
                          sequence, std::nullopt});
  }
  return known->second;
}

/// One pass over all processes for all spawns: there may be a million of each.
void graph_state::resolve_parents() {
  const auto key = [](std::uint32_t world, std::int32_t rank) {
    return std::uint64_t{world} << 32 | static_cast<std::uint32_t>(rank);
  };
  std::unordered_map<std::uint64_t, std::uint32_t> wanted;  // the value is the process, once it is found
  for (const spawn& s : spawn_rows) {
    if (s.parent_world && !s.parent) wanted.emplace(key(index(*s.parent_world), s.parent_rank), none);
  }
  if (wanted.empty()) return;
  for (std::uint32_t p = 0; p < size(); ++p) {
    if (worlds[p] == none) continue;
    const auto found = wanted.find(key(worlds[p], ranks[p]));
    if (found != wanted.end() && found->second == none) found->second = p;
  }
  for (spawn& s : spawn_rows) {
    if (!s.parent_world || s.parent) continue;
    const std::uint32_t parent = wanted.at(key(index(*s.parent_world), s.parent_rank));
    if (parent != none) s.parent = process_number{parent};
  }
}

}  // namespace mpiacq::mpi2dd
