// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether a machine has room for thousands of agents, which are five threads each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include <sys/resource.h>

namespace mpiacq::bench {

/// The first number of a file; `otherwise` where there is none.
[[nodiscard]] inline std::uint64_t number_in(const char* path, std::uint64_t otherwise) {
  std::uint64_t number = otherwise;
  return std::ifstream(path) >> number ? number : otherwise;
}

/// What lacks; empty: nothing.
[[nodiscard]] inline std::string why_no_room(std::uint64_t agents) {
  constexpr std::uint64_t threads_each = 5, kb_each = 1024, descriptors_each = 32, others = 2000,
                          unlimited = UINT64_MAX;
  const std::uint64_t threads = agents * threads_each + others;
  rlimit own{RLIM_INFINITY, RLIM_INFINITY};
  (void)::getrlimit(RLIMIT_NPROC, &own);
  const std::uint64_t most =
      std::min({number_in("/proc/sys/kernel/pid_max", unlimited), number_in("/proc/sys/kernel/threads-max", unlimited),
                number_in("/sys/fs/cgroup/pids.max", unlimited),
                own.rlim_cur == RLIM_INFINITY ? unlimited : std::uint64_t{own.rlim_cur}});
  if (threads > most) return "needs " + std::to_string(threads) + " threads, and may have " + std::to_string(most);
  (void)::getrlimit(RLIMIT_NOFILE, &own);
  const std::uint64_t descriptors = std::max(agents, agents / 32 * descriptors_each) + others / 2;
  if (own.rlim_cur != RLIM_INFINITY && descriptors > own.rlim_cur)
    return "needs " + std::to_string(descriptors) + " descriptors in a process, and may have " +
           std::to_string(own.rlim_cur);
  std::ifstream memory("/proc/meminfo");
  for (std::string word; memory >> word;) {
    std::uint64_t kb = 0;
    if (word == "MemAvailable:" && memory >> kb && kb < agents * kb_each)
      return "needs " + std::to_string(agents * kb_each / 1024) + " MB, and there are " + std::to_string(kb / 1024);
  }
  return "";
}

}  // namespace mpiacq::bench
