// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/slurm_step.hpp"

#include <algorithm>

#include <unistd.h>

#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

/// More than one rank is asked, because the first may have ended already.
constexpr int ranks_asked = 4;

/// Slurm's numbers have 32 bits. A process can write anything into its environment, and these texts become words of a
/// command line: only digits are taken.
std::optional<std::string> number_in(process_id process, std::string_view variable) {
  constexpr std::size_t most_digits = 10;
  auto text = environment_of(process, variable);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!text || text->empty() || text->size() > most_digits || !std::all_of(text->begin(), text->end(), is_digit))
    return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string> slurm_job_of(process_id process) {
  return number_in(process, "SLURM_JOB_ID");
}

std::optional<slurm_step> slurm_step_of(const process_table& table, process_id starter) {
  const auto is_local = hosts_on_this_node(table);
  const auto hosts = table.host_numbers();
  int left = ranks_asked;
  for (std::size_t entry = 0; entry < hosts.size() && left != 0; ++entry) {
    if (hosts[entry] == process_table::no_string || !is_local[hosts[entry]]) continue;
    --left;
    const process_id rank = table.pid(entry);
    // The pid may belong to another process by now.
    if (why_no_rank(rank, table.user().value_or(user_id{::geteuid()}))) continue;
    if (!runs_program(rank, table.executable_name(entry).value_or(""))) continue;
    if (auto job = slurm_job_of(rank)) return slurm_step{std::move(*job), number_in(rank, "SLURM_STEP_ID")};
  }
  if (auto job = slurm_job_of(starter)) return slurm_step{std::move(*job), std::nullopt};
  return std::nullopt;
}

}  // namespace mpiacq
