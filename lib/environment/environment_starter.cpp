// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "environment_starter.hpp"

#include <algorithm>

namespace mpiacq {

namespace {

bool is_lower(const rank_claim& a, const rank_claim& b) {
  return a.rank.value_or(INT32_MAX) < b.rank.value_or(INT32_MAX);
}

/// One process may have any parent: a shell, a service.
std::optional<process_id> common_parent(node_processes& node, std::span<const rank_claim> claims) {
  if (claims.size() < 2) return std::nullopt;
  const auto parent = node.parent_of(claims.front().process->pid);
  const bool is_common = std::all_of(claims.begin(), claims.end(),
                                     [&](const rank_claim& one) { return node.parent_of(one.process->pid) == parent; });
  return is_common ? parent : std::nullopt;
}

}  // namespace

std::shared_ptr<const process_facts> starter_of(node_processes& node, std::span<const rank_claim> claims) {
  std::vector<rank_claim> with_starter, with_daemon;
  for (const rank_claim& one : claims) {
    if (one.starter) with_starter.push_back(one);
    if (one.daemon) with_daemon.push_back(one);
  }
  std::optional<process_id> found;
  if (!with_starter.empty()) {
    found = std::min_element(with_starter.begin(), with_starter.end(), is_lower)->starter;
  } else if (!with_daemon.empty()) {
    found = std::min_element(with_daemon.begin(), with_daemon.end(), is_lower)->daemon;
  } else {
    found = common_parent(node, claims);
  }
  if (!found) return nullptr;
  auto process = node.facts_of(*found);
  if (!process) return nullptr;
  const user_id user = process->user();
  constexpr user_id root{0};
  return user == claims.front().process->user || user == root ? process : nullptr;
}

}  // namespace mpiacq
