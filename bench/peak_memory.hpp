// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <unistd.h>

namespace mpiacq::bench {

/// How much resident memory grows at the most while `work` is done. Only the first time in a process tells: later ones
/// find memory that earlier ones gave back to malloc.
template <class Work>
[[nodiscard]] std::uint64_t peak_growth(Work work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  const std::uint64_t before = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  work();
  std::ifstream status("/proc/self/status");
  std::uint64_t peak = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> peak;
  }
  return peak * 1024 > before ? peak * 1024 - before : 0;
}

}  // namespace mpiacq::bench
