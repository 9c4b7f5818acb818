// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/breakpoint_set.hpp"

#include <algorithm>

namespace mpiacq::tracing {

breakpoint* breakpoint_set::at(target_address address) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const breakpoint& b) { return b.is_at(address); });
  return found == all.end() ? nullptr : &*found;
}

const breakpoint* breakpoint_set::watch_at(target_address address) const {
  const auto found = std::find_if(all.begin(), all.end(), [&](const breakpoint& b) { return b.watches(address); });
  return found == all.end() ? nullptr : &*found;
}

bool breakpoint_set::has_software() const {
  return std::any_of(all.begin(), all.end(), [](const breakpoint& b) { return b.is_software(); });
}

bool breakpoint_set::needs_step_from(target_address address) const {
  return std::any_of(all.begin(), all.end(), [&](const breakpoint& b) {
    return b.is_at(address) && (b.is_software() || arch::hardware_needs_step());
  });
}

arch::hardware_table breakpoint_set::watches() const {
  arch::hardware_table only = hardware;
  for (auto& trigger : only) {
    if (trigger && trigger->written == 0) trigger.reset();
  }
  return only;
}

bool breakpoint_set::take_register(const arch::hardware_trigger& trigger) {
  const auto free = std::find(hardware.begin(), hardware.end(), std::nullopt);
  if (free == hardware.end()) return false;
  *free = trigger;
  return true;
}

void breakpoint_set::free_register(const arch::hardware_trigger& trigger) {
  std::replace(hardware.begin(), hardware.end(), std::optional{trigger}, std::optional<arch::hardware_trigger>{});
}

std::vector<breakpoint> breakpoint_set::inherited_traps() const {
  std::vector<breakpoint> traps = past_traps;
  for (const breakpoint& b : all) {
    if (b.is_software()) remember_trap(traps, b);
  }
  return traps;
}

void breakpoint_set::forget_program() {
  all.clear();
  past_traps.clear();
  hardware = {};
  lifted = false;
}

void remember_trap(std::vector<breakpoint>& traps, const breakpoint& trap) {
  const bool is_there =
      std::any_of(traps.begin(), traps.end(), [&](const breakpoint& t) { return t.address == trap.address; });
  if (!is_there) traps.push_back(trap);
}

}  // namespace mpiacq::tracing
