// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/entry_points.hpp"

namespace mpiacq::mqd_host {

namespace {
constexpr bool is_by_number() {
  for (std::size_t i = 0; i < entry_points.size(); ++i) {
    if (static_cast<std::size_t>(entry_points[i].entry) != i) return false;
  }
  return true;
}
static_assert(is_by_number());
static_assert(static_cast<std::size_t>(entry_point::spawn_breakpoint_name) + 1 == entry_point_count);
}  // namespace

std::string_view name(entry_point entry) {
  const auto number = static_cast<std::size_t>(entry);
  return number < entry_points.size() ? entry_points[number].symbol : std::string_view{};
}

}  // namespace mpiacq::mqd_host
