// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPICH with symbols and its queue library, as scripts/build-mpich-debug makes it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "run_command.hpp"

namespace mpiacq::test {

/// The folder that MPIACQ_MPICH_DEBUG_PREFIX names, else the one in the user's cache. One of the members is empty.
struct mpich_debug {
  std::string prefix;
  std::string why_not;  ///< why the tests that need it skip
};

inline mpich_debug find_mpich_debug() {
  namespace fs = std::filesystem;
  std::error_code none;
  if (const char* named = std::getenv("MPIACQ_MPICH_DEBUG_PREFIX"); named != nullptr && *named != '\0') {
    if (fs::exists(std::string(named) + "/bin/mpiexec.hydra", none)) return {named, {}};
    return {{}, std::string(named) + "/bin/mpiexec.hydra (MPIACQ_MPICH_DEBUG_PREFIX) is not there"};
  }
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache == nullptr && home == nullptr) return {{}, "neither XDG_CACHE_HOME nor HOME is set"};
  const std::string folder = (cache != nullptr ? cache : std::string(home) + "/.cache") + "/mpiacq/mpich-debug";
  const fs::path built = fs::canonical(folder + "/current", none);
  if (!none && fs::exists(built / "bin/mpiexec.hydra", none)) return {built, {}};
  const std::string failure = file_contents(folder + "/failure");
  if (!failure.empty()) return {{}, failure.substr(0, failure.find('\n'))};
  return {{}, "there is no MPICH with symbols: scripts/build-mpich-debug makes one in the user's cache"};
}

}  // namespace mpiacq::test
