// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace mpiacq::bench {

/// A line of /proc/PID/status, as its second word; empty where there is none.
[[nodiscard]] inline std::string status_of(const std::string& pid, std::string_view name) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string word; status >> word;) {
    if (word == name && status >> word) return word;
  }
  return {};
}

/// The most that a process has had resident.
[[nodiscard]] inline std::uint64_t peak_of(const std::string& pid) {
  return std::strtoull(status_of(pid, "VmHWM:").c_str(), nullptr, 10) * 1024;
}

/// The same of all processes called `name` that `parent` has made: the tool's tracing processes.
[[nodiscard]] inline std::uint64_t peak_of_children(pid_t parent, std::string_view name) {
  std::uint64_t sum = 0;
  std::error_code gone;  // processes end while we look
  for (auto entry = std::filesystem::directory_iterator("/proc", gone); entry != end(entry); entry.increment(gone)) {
    const std::string pid = entry->path().filename().string();
    if (pid[0] < '0' || pid[0] > '9') continue;
    if (status_of(pid, "PPid:") == std::to_string(parent) && status_of(pid, "Name:") == name) sum += peak_of(pid);
  }
  return sum;
}

[[nodiscard]] inline std::uint64_t resident_now() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// By how much more than `before` is resident at the most while `work` is done.
template <class Work>
[[nodiscard]] std::uint64_t peak_above(std::uint64_t before, Work work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
  work();
  const std::uint64_t peak = peak_of("self");
  return peak > before ? peak - before : 0;
}

/// How much resident memory grows at the most while `work` is done. Only the first time in a process tells: later ones
/// find memory that earlier ones gave back to malloc.
template <class Work>
[[nodiscard]] std::uint64_t peak_growth(Work work) {
  return peak_above(resident_now(), work);
}

}  // namespace mpiacq::bench
