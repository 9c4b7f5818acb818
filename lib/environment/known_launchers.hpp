// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What mpiacq knows of launchers: one constant table. Everything in this room works from it.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "mpiacq/job/job_description.hpp"

namespace mpiacq {

/// What one launcher sets in the environment of its ranks, and the programs that it consists of. An empty word: the
/// launcher has none. Programs are names of files, or of modules that an interpreter runs.
struct known_launcher {
  template <std::size_t N>
  using words = std::array<std::string_view, N>;

  launcher_kind kind = launcher_kind::unknown;
  std::string_view name;        ///< for people: "Open MPI"
  std::string_view rank;        ///< the variable with the number of the rank
  std::string_view world_size;  ///< the variable with the number of all ranks
  std::string_view local_rank;  ///< the variable with the number among the ranks of the node
  std::string_view local_size;  ///< the variable with the number of ranks on the node
  words<3> job;                 ///< the variables that together name the job
  words<2> companions;          ///< without these variables `rank` belongs to another program
  words<4> starters;            ///< programs that a user runs, and that stay until the job ends
  words<4> daemons;             ///< programs that the launcher runs on each node
  /// Arguments of a daemon whose values together name the job, for a launcher without such variables.
  words<2> job_arguments;
  /// The kind of another launcher whose programs start ranks with these variables.
  launcher_kind also = launcher_kind::unknown;
  /// Its ranks may have variables of another launcher, with the same numbers: those of the MPI that it serves. The job
  /// then is this launcher's. All variables of `job` must be there: a batch script has only some of them.
  bool manages_resources = false;
  /// A user runs a starter on each node: one job has several. Otherwise two starters have two jobs.
  bool starts_on_each_node = false;
};

/// In the order in which their statements count where nothing else decides.
[[nodiscard]] std::span<const known_launcher> known_launchers();

/// A program of a launcher.
struct launcher_program {
  const known_launcher* launcher = nullptr;  ///< null: the program belongs to no launcher
  bool is_starter = false;                   ///< otherwise it is a daemon
};
/// By its name, without a folder.
[[nodiscard]] launcher_program launcher_program_called(std::string_view name);

/// Whether this program starts ranks with the variables of that launcher.
[[nodiscard]] inline bool starts_ranks_of(const launcher_program& program, const known_launcher& launcher) {
  return program.launcher != nullptr && (program.launcher == &launcher || program.launcher->kind == launcher.also);
}

/// The words of a list of the table, without the empty ones.
template <std::size_t N, class With>
void for_each_word(const std::array<std::string_view, N>& all, With with) {
  for (const std::string_view word : all) {
    if (!word.empty()) with(word);
  }
}

}  // namespace mpiacq
