// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The variables that launchers put into the environment of the processes that they start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The launchers' variables of one environment. A process can change its own environment, so nothing here is trusted.
/// Every text is unchanged.
struct launcher_variables {
  /// Open MPI's statement first, then PMIx's, PMI's (MPICH, Intel MPI), Slurm's. An inner launcher's process inherits
  /// the variables of the outer one: a batch script's own SLURM_PROCID, for example.
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

}  // namespace mpiacq
