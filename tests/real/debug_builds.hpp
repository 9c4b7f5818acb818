// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPIs with debug information and their queue libraries, as scripts/build-mpich-debug and scripts/build-openmpi-debug
// make them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "run_command.hpp"

namespace mpiacq::test {

/// The folder of an MPI. One of the members is empty.
struct debug_build {
  std::string prefix;
  std::string why_not;  ///< why the tests that need it skip
};

/// What a script builds.
struct debug_build_kind {
  const char* mpi;       ///< its name
  const char* variable;  ///< may name its folder
  const char* folder;    ///< in the user's cache
  const char* starter;   ///< a program that it has
};

/// The folder that the variable names, else the one in the user's cache.
inline debug_build find_debug_build(const debug_build_kind& kind) {
  namespace fs = std::filesystem;
  std::error_code none;
  const std::string starter = std::string("/bin/") + kind.starter;
  if (const char* named = std::getenv(kind.variable); named != nullptr && *named != '\0') {
    if (fs::exists(named + starter, none)) return {named, {}};
    return {{}, named + starter + " (" + kind.variable + ") is not there"};
  }
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache == nullptr && home == nullptr) return {{}, "neither XDG_CACHE_HOME nor HOME is set"};
  const std::string folder =
      (cache != nullptr ? cache : std::string(home) + "/.cache") + "/mpiacq/" + std::string(kind.folder);
  const fs::path built = fs::canonical(folder + "/current", none);
  if (!none && fs::exists(built.string() + starter, none)) return {built, {}};
  const std::string failure = file_contents(folder + "/failure");
  if (!failure.empty()) return {{}, failure.substr(0, failure.find('\n'))};
  return {{}, std::string("there is no ") + kind.mpi + " with debug information: run scripts/build-" + kind.folder};
}

inline debug_build find_mpich_debug() {
  return find_debug_build({"MPICH", "MPIACQ_MPICH_DEBUG_PREFIX", "mpich-debug", "mpiexec.hydra"});
}
inline debug_build find_openmpi_debug() {
  return find_debug_build({"Open MPI", "MPIACQ_OPENMPI_DEBUG_PREFIX", "openmpi-debug", "mpirun"});
}

/// The program of ranks from this source among the fixtures, for an MPI in a prefix. Returns what the compiler has said
/// if it failed.
inline std::string build_ranks(const std::string& prefix, const std::string& source, const std::string& program,
                               const command_options& how) {
  const auto built = run_command({prefix + "/bin/mpicc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-pthread", "-o",
                                  program, std::string{MPIACQ_RANK_SOURCES} + "/" + source},
                                 how);
  return built.exit_code == 0 ? "" : built.err + " (mpicc ended with " + std::to_string(built.exit_code) + ")";
}

}  // namespace mpiacq::test
