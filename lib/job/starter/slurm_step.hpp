// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/process_table.hpp"

namespace mpiacq {

/// Where Slurm runs a job: both are numbers, in decimal.
struct slurm_step {
  std::string job;
  std::optional<std::string> step;  ///< of the ranks
};

/// The Slurm job of an MPI2DD job, whose tables have nothing for it: what the ranks of this node were started with says
/// it (srun(1), "OUTPUT ENVIRONMENT VARIABLES": SLURM_JOB_ID, SLURM_STEP_ID), for they are where agents are wanted;
/// else the starter's environment, which may be of another step. Empty where none says it, or may be read.
[[nodiscard]] std::optional<slurm_step> slurm_step_of(const process_table& table, process_id starter);

}  // namespace mpiacq
