// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Works measured in turn, round by round, so that what else the machine does meets all of them alike.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

#include "measurement.hpp"

namespace mpiacq::bench {

struct round_limits {
  std::size_t fewest = 7;
  std::size_t most = 61;
  double milliseconds = 2000;  ///< about so long in all, within the two above
};

/// The times of each work, one for each round. A first round that does not count warms caches and tells how long each
/// takes: of a short work a round's time is the mean of several in a row, since one alone is mostly the clock's and the
/// scheduler's.
template <class... Works>
[[nodiscard]] std::array<std::vector<double>, sizeof...(Works)> in_turn(const round_limits& limits, Works... works) {
  constexpr double shortest = 1;  // milliseconds that a round's time is made of
  constexpr double most_in_a_row = 200;
  std::array<std::vector<double>, sizeof...(Works)> times;
  std::array<std::size_t, sizeof...(Works)> in_a_row{};
  double of_a_round = 0;
  std::size_t next = 0;
  const auto look = [&](auto& work) {
    (void)milliseconds_of(work);
    const double once = std::max(milliseconds_of(work), 0.0001);
    in_a_row[next] = static_cast<std::size_t>(std::clamp(std::ceil(shortest / once), 1.0, most_in_a_row));
    of_a_round += once * static_cast<double>(in_a_row[next++]);
  };
  (look(works), ...);
  const auto fitting = static_cast<std::size_t>(limits.milliseconds / of_a_round);
  const std::size_t rounds = std::clamp(fitting, limits.fewest, limits.most);
  const auto measure = [&](auto& work) {
    const std::size_t count = in_a_row[next];
    const double all = milliseconds_of([&] {
      for (std::size_t i = 0; i < count; ++i) work();
    });
    times[next++].push_back(all / static_cast<double>(count));
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    next = 0;
    (measure(works), ...);
  }
  return times;
}

/// A virtual machine gets memory from its host when it is written to for the first time ever, or since it was given
/// back, which takes several times as long as to clear it. What is given back here is what the next to ask gets.
inline void warm_memory(std::uint64_t bytes) {
  bytes = std::min(bytes, std::uint64_t{1} << 30);  // the machine may be a small one
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  for (std::uint64_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
}

}  // namespace mpiacq::bench
