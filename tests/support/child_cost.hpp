// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The cost of a piece of work, memory and bytes read, measured in a separate process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpiacq::test {

struct child_cost {
  bool ended = false;            ///< whether it ended by itself with status 0
  std::uint64_t peak = 0;        ///< the most memory in bytes (getrusage)
  std::uint64_t grown = 0;       ///< the part of `peak` that was added after the beginning
  std::uint64_t bytes_read = 0;  ///< the bytes of read calls (/proc/self/io)
  double seconds = 0;            ///< processor time
  std::string said;              ///< what the work returned
};

namespace child_cost_parts {

inline std::uint64_t bytes_read_so_far() {
  std::FILE* file = std::fopen("/proc/self/io", "re");
  unsigned long long count = 0;
  if (file == nullptr) return 0;
  if (std::fscanf(file, "rchar: %llu", &count) != 1) count = 0;
  std::fclose(file);
  return count;
}

inline std::uint64_t resident_peak() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
}

}  // namespace child_cost_parts

/// Runs `work` in a forked process and returns its cost. Its answer may have at most 4 KiB.
inline child_cost cost_of(const std::function<std::string()>& work) {
  child_cost cost;
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return cost;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const std::uint64_t read_before = child_cost_parts::bytes_read_so_far();
    const std::uint64_t peak_before = child_cost_parts::resident_peak();
    const std::string said = work().substr(0, 4096);
    const std::uint64_t peak = child_cost_parts::resident_peak();
    const std::uint64_t numbers[] = {peak, peak - peak_before, child_cost_parts::bytes_read_so_far() - read_before};
    const bool written = ::write(ends[1], numbers, sizeof numbers) == sizeof numbers &&
                         ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t numbers[3] = {};
  bool told = child > 0 && ::read(ends[0], numbers, sizeof numbers) == sizeof numbers;
  char piece[4096];
  for (ssize_t count = 0; told && (count = ::read(ends[0], piece, sizeof piece)) > 0;) {
    cost.said.append(piece, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = -1;
  rusage used{};
  if (child > 0) ::wait4(child, &status, 0, &used);
  cost.ended = told && status == 0;
  cost.peak = numbers[0];
  cost.grown = numbers[1];
  cost.bytes_read = numbers[2];
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  cost.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return cost;
}

}  // namespace mpiacq::test
