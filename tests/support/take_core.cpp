// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "take_core.hpp"

#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <sys/types.h>

#include "run_command.hpp"

namespace mpiacq::test {

std::optional<std::string> core_by_gcore(process_id pid, const std::string& folder) {
  const std::string number = std::to_string(pid.value());
  const std::string base = folder + "/gcore";
  const auto run = run_command({"gcore", "-o", base, number});
  const std::string made = base + "." + number;
  if (run.exit_code != 0 || !std::filesystem::exists(made)) return std::nullopt;
  return made;
}

std::string why_no_kernel_core() {
  std::ifstream file{"/proc/sys/kernel/core_pattern"};
  std::string pattern;
  std::getline(file, pattern);
  if (pattern.empty()) return "kernel.core_pattern is empty: the kernel writes no core files";
  if (pattern.find_first_of("|/@") != std::string::npos) {
    return "kernel.core_pattern is " + pattern + ": core files go elsewhere";
  }
  return {};
}

void allow_core(process_id pid) {
  const rlimit any{RLIM_INFINITY, RLIM_INFINITY};
  (void)::prlimit(static_cast<pid_t>(pid.value()), RLIMIT_CORE, &any, nullptr);
}

std::optional<std::string> core_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().filename().string().find("core") != std::string::npos) return entry.path().string();
  }
  return std::nullopt;
}

}  // namespace mpiacq::test
