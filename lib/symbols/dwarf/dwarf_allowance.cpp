// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_allowance.hpp"

#include <atomic>

#include <fmt/format.h>

namespace mpiacq::debug_info {

namespace {

std::atomic<std::uint64_t> taken_by_all = 0;

}  // namespace

dwarf_allowance::~dwarf_allowance() {
  taken_by_all -= taken_;
}

bool dwarf_allowance::take(std::uint64_t bytes) {
  if (bytes > left()) return false;
  if (taken_by_all.fetch_add(bytes) + bytes > most_memory_of_all) {
    taken_by_all -= bytes;
    return false;
  }
  taken_ += bytes;
  return true;
}

bool dwarf_allowance::step(std::uint64_t steps) {
  if (steps > most_steps - steps_) {
    steps_ = most_steps;
    return false;
  }
  steps_ += steps;
  return true;
}

tl::unexpected<error> too_expensive(const std::string& file, const std::string& what) {
  return fail(error{error_code::limit, fmt::format("the debug information of {} costs too much to read: {}; the "
                                                   "rest is not used",
                                                   file, what)}
                  .on(file));
}

}  // namespace mpiacq::debug_info
