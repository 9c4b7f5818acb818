// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The variables that launchers put into the environment of the processes that they start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "known_launchers.hpp"

namespace mpiacq {

/// One launcher's statement of a process's rank.
struct rank_variable {
  std::string name;  ///< for example "PMIX_RANK"
  std::string value;
  std::optional<std::int64_t> rank;        ///< the value if it is a number from 0 on
  std::optional<std::int64_t> world_size;  ///< if the launcher states it
  std::optional<std::int64_t> local_rank;  ///< the number among the ranks of its node, if the launcher states it
  friend bool operator==(const rank_variable&, const rank_variable&) = default;
};

/// The same with what names the job.
struct launcher_statement {
  const known_launcher* launcher = nullptr;
  rank_variable stated;
  std::optional<std::int64_t> local_size;  ///< the number of ranks on its node, if the launcher states it
  /// The values of the variables of `known_launcher::job`, in their order; empty where one is missing. A longer value
  /// is cut after `most_of_job_value` bytes.
  std::vector<std::string> job;

  static constexpr std::size_t most_of_job_value = 256;
  /// Whether both speak of the same rank of the same job, as far as variables tell.
  [[nodiscard]] bool is_same(const launcher_statement& other) const {
    return launcher == other.launcher && stated.value == other.stated.value && job == other.job;
  }
  /// Whether any variable, or each of them, names the job.
  [[nodiscard]] bool names_job() const;
  [[nodiscard]] bool names_job_completely() const;
};

/// The launchers' variables of one environment. A process can change its own environment, so nothing here is trusted.
/// Every text is unchanged.
struct launcher_variables {
  /// In the order of `known_launchers`: Open MPI's statement first, then PMIx's, PMI's (MPICH, Intel MPI), Slurm's,
  /// Flux's, PALS's, torchrun's. An inner launcher's process inherits the variables of the outer one: a batch script's
  /// own SLURM_PROCID, for example.
  std::vector<rank_variable> ranks;
  std::string pmix_namespace;  ///< PMIX_NAMESPACE
  /// SLURM_JOB_ID and SLURM_STEP_ID; empty if the value is not a decimal number of at most ten digits.
  std::string slurm_job;
  std::string slurm_step;
  std::string slurm_node;  ///< SLURMD_NODENAME
  /// MPI_Comm_spawn made the process: its rank is a number in a new MPI_COMM_WORLD. Open MPI gives such a process the
  /// port of its parents; Hydra and Slurm set PMI_SPAWNED.
  bool is_spawned = false;
  /// "NAME=value" of each variable that holds the address of the process's starter.
  std::vector<std::string> starter_addresses;
};

/// `environment`: strings that end with null bytes, as /proc/PID/environ has them. A variable whose name is also in
/// `inherited` is ignored: the starter was started with it, so it does not speak of this job's ranks.
[[nodiscard]] launcher_variables decode_launcher_variables(std::string_view environment,
                                                           std::string_view inherited = {});

/// Whether an environment has a variable in which a launcher states a rank: a quick look before a decoder's.
[[nodiscard]] bool mentions_a_rank(std::string_view environment);

/// What launchers state in an environment: rank and job.
struct launcher_statements {
  std::vector<launcher_statement> all;  ///< in the order of `known_launchers`
  bool is_spawned = false;              ///< as in `launcher_variables`
};
[[nodiscard]] launcher_statements decode_launcher_statements(std::string_view environment);

}  // namespace mpiacq
