// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the tool takes of the processors while a job runs. The wall time of a job differs by some percent from run to
// run, so that it cannot show a thousandth.
#pragma once

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sys/types.h>

#include "peak_memory.hpp"

namespace mpiacq::bench {

/// Milliseconds of processor time that a process has had, with all of its threads; 0 if it has ended.
[[nodiscard]] inline double processor_of(pid_t pid) {
  clockid_t clock{};
  timespec had{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &had) != 0) return 0;
  return 1e3 * static_cast<double>(had.tv_sec) + 1e-6 * static_cast<double>(had.tv_nsec);
}

/// The same of a tool and of its tracing processes.
[[nodiscard]] inline double processor_of_tool(pid_t tool) {
  double sum = processor_of(tool);
  std::error_code gone;  // processes end while we look
  const auto children = "/proc/" + std::to_string(tool) + "/task";
  for (auto entry = std::filesystem::directory_iterator(children, gone); entry != end(entry); entry.increment(gone)) {
    std::ifstream pids(entry->path() / "children");
    for (pid_t child = 0; pids >> child;)
      if (status_of(std::to_string(child), "Name:") == "tracer") sum += processor_of(child);
  }
  return sum;
}

}  // namespace mpiacq::bench
