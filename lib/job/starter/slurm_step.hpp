// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/process_table.hpp"

namespace mpiacq {

/// The job and step numbers of a Slurm job, in decimal.
struct slurm_step {
  std::string job;
  std::optional<std::string> step;  ///< of the ranks
};

/// The Slurm job of an MPI2DD job, whose tables do not name it. The environment of the local ranks does (srun(1),
/// "OUTPUT ENVIRONMENT VARIABLES": SLURM_JOB_ID, SLURM_STEP_ID). The starter's environment is asked last, for the job
/// alone, because the starter may run in another step. Empty if no environment has the numbers or may be read.
[[nodiscard]] std::optional<slurm_step> slurm_step_of(const process_table& table, process_id starter);

}  // namespace mpiacq
