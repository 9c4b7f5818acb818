// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/slurm_step.hpp"

#include <utility>

#include <unistd.h>

#include "launcher_variables.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

/// More than one rank is asked, because the first may have ended already.
constexpr int ranks_asked = 4;

std::optional<std::string> if_there(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

launcher_variables variables_in(const result<process_facts>& process) {
  return decode_launcher_variables(process ? process->environment().value_or("") : "");
}

}  // namespace

std::optional<std::string> slurm_job_of(process_id process) {
  return if_there(variables_in(process_facts::open(process)).slurm_job);
}

std::optional<slurm_step> slurm_step_of(const process_table& table, process_id starter) {
  const entry_locality locality(table);
  int left = ranks_asked;
  for (std::size_t i = 0; i < table.size() && left != 0; ++i) {
    const entry_index entry{i};
    if (!locality.is_local(entry)) continue;
    --left;
    const auto rank = process_facts::open(table.pid(entry));
    // The number may have gone to another process since the table was written.
    const user_id user = table.user().value_or(user_id{::geteuid()});
    if (!rank || !rank->users() || why_no_rank(rank->pid(), *rank->users(), user)) continue;
    if (!runs_program(rank->executable().value_or(""), table.executable_name(entry).value_or(""))) continue;
    launcher_variables told = variables_in(rank);
    if (!told.slurm_job.empty()) return slurm_step{std::move(told.slurm_job), if_there(std::move(told.slurm_step))};
  }
  if (auto job = slurm_job_of(starter)) return slurm_step{std::move(*job), std::nullopt};
  return std::nullopt;
}

}  // namespace mpiacq
