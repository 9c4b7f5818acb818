// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/starter_search.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq {

bool starter_search::follows_child_of(process_id parent, bool parent_has_interface) const {
  return !is_over_ && processes_.contains(parent) && !parent_has_interface;
}

bool starter_search::found_interface(process_id process) {
  return !is_over_ && std::exchange(starter_, process) != process;
}

bool starter_search::has_spawned(process_id process) {
  if (std::exchange(is_over_, true)) return false;
  starter_ = process;
  return true;
}

bool starter_search::process_ended(process_id process) {
  const auto found = processes_.find(process);
  if (found != processes_.end()) found->second = false;
  if (is_over_ || process != starter_) return false;
  const auto living = others();
  if (living.empty()) return false;
  starter_ = living.back();
  return true;
}

bool starter_search::is_any_alive() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) { return entry.second; });
}

std::vector<process_id> starter_search::others() const {
  std::vector<process_id> living;
  for (const auto& [process, lives] : processes_) {
    if (lives && process != starter_) living.push_back(process);
  }
  return living;
}

}  // namespace mpiacq
