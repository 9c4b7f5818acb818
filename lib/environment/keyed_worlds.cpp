// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The part of a job on another node than the one where it was found: the same key names it.
#include <unordered_map>
#include <utility>

#include "environment_world.hpp"

namespace mpiacq {

std::vector<environment_world> worlds_with_keys(std::span<const std::string> keys, const std::string& proc) {
  node_processes node(proc);
  std::unordered_map<std::string_view, std::vector<rank_claim>> by_key;
  for (const std::string& key : keys) by_key.try_emplace(key);
  for (rank_claim& claim : rank_claims_in(node)) {
    const auto wanted = by_key.find(claim.key);
    if (claim.is_known_elsewhere && wanted != by_key.end()) wanted->second.push_back(std::move(claim));
  }
  std::vector<environment_world> worlds;
  for (const std::string& key : keys) {
    auto claims = std::exchange(by_key.at(key), {});
    std::vector<error> unused;  // the node that asks reports the problems, because it knows all ranks
    worlds.push_back(claims.empty() ? environment_world{} : world_of(std::move(claims), unused));
  }
  return worlds;
}

}  // namespace mpiacq
