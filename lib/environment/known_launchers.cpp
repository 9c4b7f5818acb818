// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "known_launchers.hpp"

namespace mpiacq {

namespace {

constexpr std::array<known_launcher, 7> all_launchers = {{
    {.kind = launcher_kind::open_mpi,
     .name = "Open MPI",
     .rank = "OMPI_COMM_WORLD_RANK",
     .world_size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
     // Open MPI 5 has the first alone; 3 and older may have the second alone.
     .job = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     .companions = {},
     .starters = {"orterun", "mpirun"},
     .daemons = {"orted"},
     .job_arguments = {},
     .also = launcher_kind::prrte},
    {.kind = launcher_kind::prrte,
     .name = "PRRTE",
     .rank = "PMIX_RANK",
     .world_size = "",
     .local_rank = "",
     .local_size = "",
     .job = {"PMIX_NAMESPACE"},
     .companions = {},
     .starters = {"prterun", "prte", "prun"},
     .daemons = {"prted"},
     .job_arguments = {}},
    // MPICH, Intel MPI, MVAPICH.
    {.kind = launcher_kind::hydra,
     .name = "Hydra",
     .rank = "PMI_RANK",
     .world_size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .local_size = "MPI_LOCALNRANKS",
     .job = {},
     .companions = {},
     .starters = {"mpiexec.hydra", "mpirun_rsh"},
     .daemons = {"hydra_pmi_proxy", "hydra_bstrap_proxy", "mpispawn"},
     // All proxies of a job have the first; the second tells its worlds apart.
     .job_arguments = {"--control-port", "--pgid"}},
    {.kind = launcher_kind::slurm,
     .name = "Slurm",
     .rank = "SLURM_PROCID",
     .world_size = "SLURM_STEP_NUM_TASKS",
     .local_rank = "SLURM_LOCALID",
     .local_size = "",
     .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     .companions = {},
     .starters = {"srun"},
     .daemons = {"slurmstepd", "slurmstepd-wlm"},  // the second is Debian's
     .job_arguments = {},
     .manages_resources = true},
    {.kind = launcher_kind::flux,
     .name = "Flux",
     .rank = "FLUX_TASK_RANK",
     .world_size = "FLUX_JOB_SIZE",
     .local_rank = "FLUX_TASK_LOCAL_ID",
     .local_size = "",
     .job = {"FLUX_JOB_ID"},
     .companions = {},
     .starters = {"flux", "flux-job"},
     .daemons = {"flux-shell", "flux-broker"},
     .job_arguments = {},
     .manages_resources = true},
    {.kind = launcher_kind::pals,
     .name = "PALS",
     .rank = "PALS_RANKID",
     .world_size = "",
     .local_rank = "PALS_LOCAL_RANKID",
     .local_size = "",
     .job = {"PALS_APID"},
     .companions = {},
     .starters = {},
     .daemons = {"palsd"},
     .job_arguments = {},
     .manages_resources = true},
    // The names of the first two variables are common words: they count only beside the others.
    {.kind = launcher_kind::torchrun,
     .name = "torchrun",
     .rank = "RANK",
     .world_size = "WORLD_SIZE",
     .local_rank = "LOCAL_RANK",
     .local_size = "LOCAL_WORLD_SIZE",
     .job = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"},
     .companions = {"WORLD_SIZE", "MASTER_ADDR"},
     .starters = {"torchrun", "torch.distributed.run", "torch.distributed.launch"},
     .daemons = {},
     .job_arguments = {},
     .starts_on_each_node = true},
}};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::span<const known_launcher> known_launchers() {
  return all_launchers;
}

launcher_program launcher_program_called(std::string_view name) {
  if (name.empty()) return {};
  for (const known_launcher& one : all_launchers) {
    if (contains(one.starters, name)) return {&one, true};
    if (contains(one.daemons, name)) return {&one, false};
  }
  return {};
}

}  // namespace mpiacq
