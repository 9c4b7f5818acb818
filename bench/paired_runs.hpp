// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ratios of two works that were done in turn, so that what else the machine does falls on both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mpiacq::bench {

struct quartiles {
  double low = 0, median = 0, high = 0;
};

[[nodiscard]] inline quartiles quartiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double position = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double rest = position - static_cast<double>(below);
    return values[below] * (1 - rest) + values[above] * rest;
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// The ratio of each pair, then the quartiles of those.
[[nodiscard]] inline quartiles ratio_of_pairs(const std::vector<double>& work, const std::vector<double>& against) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(work.size(), against.size()); ++i) ratios.push_back(work[i] / against[i]);
  return quartiles_of(std::move(ratios));
}

}  // namespace mpiacq::bench
