// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/environment_description.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "proc/local_host.hpp"
#include "proc/pid_namespace.hpp"
#include "proc/process_age.hpp"
#include "starter/find_starter.hpp"
#include "starter/look_again.hpp"
#include "views/environment_elsewhere.hpp"

namespace mpiacq {

namespace {

/// A rank that is missing for longer has ended.
constexpr std::chrono::seconds time_to_start{1};

std::shared_ptr<const process_table> table_of(const environment_job& job) {
  const std::string host = local_host::of_this_system().name();
  std::vector<table_row> rows;
  std::vector<job_world> worlds;
  for (const environment_world& world : job.worlds) {
    const auto number = static_cast<std::uint32_t>(worlds.size());
    worlds.push_back({world.id, std::nullopt});
    for (const environment_rank& one : world.ranks) {
      std::optional<std::string_view> executable;
      if (!one.executable.empty()) executable = one.executable;
      rows.push_back({host, executable, one.pid, number, rank_number{one.rank}});
    }
  }
  // A job of one world has no list of worlds, as with MPIR.
  if (worlds.size() == 1) worlds.clear();
  auto table = std::make_shared<process_table>(make_process_table(rows, std::move(worlds), {}));
  table->belongs_to(job.user);
  return table;
}

bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 10;
  return !text.empty() && text.size() <= most_digits && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Agents are started in the Slurm job of this number: nothing but a number may stand there.
void take_slurm_step(mpir::job_facts& facts, const environment_job& job) {
  if (job.launcher->kind != launcher_kind::slurm || job.id.size() < 2 || !is_number(job.id[0])) return;
  facts.job_id = job.id[0];
  if (is_number(job.id[1])) facts.step_id = job.id[1];
}

launcher_kind kind_of(const environment_job& job) {
  const launcher_program program = job.starter ? launcher_program_of(*job.starter) : launcher_program{};
  return program.launcher == nullptr ? job.launcher->kind : program.launcher->kind;
}

bool has_young_rank(const environment_world& world) {
  return std::any_of(world.ranks.begin(), world.ranks.end(),
                     [](const environment_rank& one) { return age_of(one.start_time) < time_to_start; });
}

/// A launcher starts its ranks one after the other.
bool may_be_starting(const environment_job& job) {
  return std::any_of(job.worlds.begin(), job.worlds.end(), [](const environment_world& world) {
    const bool lacks_some = world.local_size && world.ranks.size() < *world.local_size;
    return lacks_some && has_young_rank(world);
  });
}

rank_count count_of(const environment_world& world) {
  const std::uint64_t here = world.ranks.size();
  if (world.size && here >= *world.size) return rank_count::complete;
  if (!world.local_size) return rank_count::uncounted;
  return here >= *world.local_size ? rank_count::complete : rank_count::lacking;
}

rank_count count_of(const environment_job& job) {
  rank_count count = rank_count::complete;
  for (const environment_world& world : job.worlds) count = std::max(count, count_of(world));
  return count;
}

std::string sentence_of(const environment_match& match, process_id named) {
  if (match.how.empty()) return {};
  const auto process = process_facts::open(named);
  const std::string who = process ? with_executable(*process) : std::to_string(named.value());
  return fmt::format("{} {} this job", who, match.how);
}

}  // namespace

error not_there(process_id named) {
  const auto facts = process_facts::open(named);
  if (facts) {
    return {error_code::process_gone,
            fmt::format("process {} has ended, and its parent has not taken its end yet", named.value())};
  }
  if (facts.error().code != error_code::process_gone) return facts.error();
  std::string message = fmt::format("there is no process {} on this node", named.value());
  if (in_inner_process_namespace()) {
    message = fmt::format(
        "there is no process {} in this container; mpiacq, which runs in it, sees no process outside: run "
        "mpiacq where the job runs, or start this container with the pid namespace of the host "
        "(docker and podman: --pid=host)",
        named.value());
  }
  return error{error_code::not_found, std::move(message)}.on(fmt::format("/proc/{}", named.value()));
}

error no_environment_job(process_id named) {
  const auto process = process_facts::open(named);
  if (!process) return not_there(named);
  return {error_code::not_found,
          fmt::format("{} belongs to no job that the environment shows: neither it nor a process that it has started "
                      "has the variables that a launcher sets for a rank",
                      with_executable(*process))};
}

job_description description_of(const environment_job& job, std::string how) {
  job_description made;
  made.source = interface_kind::environment;
  made.starter.launched = false;
  made.starter.found_how = std::move(how);
  if (job.starter) {
    made.starter.pid = job.starter->pid();
    made.starter.executable = job.starter->executable().value_or(job.starter->stat().name);
  }
  made.launcher = kind_of(job);
  made.processes = table_of(job);
  // All that this source knows is on this node.
  made.locality = entry_locality(*made.processes, std::vector<bool>(made.processes->string_count(), true));
  take_slurm_step(made.facts, job);
  made.problems = job.problems;
  return made;
}

std::optional<job_description> environment_job_instead(process_id named, bool may_be_early, error no_table) {
  environment_jobs jobs;
  const auto match = jobs.job_of(named);
  if (!match || !*match) return std::nullopt;
  const environment_job& job = *(*match)->job;
  if (!may_be_early && std::any_of(job.worlds.begin(), job.worlds.end(), has_young_rank)) return std::nullopt;
  job_description made = description_of(job, sentence_of(**match, named));
  made.problems.insert(made.problems.begin(), std::move(no_table));
  return made;
}

std::optional<starting_job> starting_job_below(process_id root) {
  environment_jobs jobs;
  const environment_job* best = nullptr;
  for (const environment_job& job : jobs.all()) {
    if (!jobs.descends(job.first_rank().pid, root)) continue;
    if (best == nullptr || (count_of(*best) != rank_count::complete && count_of(job) == rank_count::complete)) {
      best = &job;
    }
  }
  if (best == nullptr) return std::nullopt;
  starting_job found{description_of(*best, {}), count_of(*best), false};
  found.is_started_below = best->starter && jobs.descends(best->starter->pid(), root);
  return found;
}

result<std::optional<job_description>> find_environment_job(process_id named, const time_limit& until,
                                                            const find_options& options,
                                                            const std::vector<std::string>& hosts) {
  for (;;) {
    environment_jobs jobs;
    const auto match = TRY(jobs.job_of(named));
    const bool is_launcher = jobs.node().program_of(named).launcher != nullptr;
    const bool is_early = match ? may_be_starting(*match->job) : is_launcher;
    if (!is_early || clock::now() >= until.by) {
      if (!match) return std::nullopt;
      job_description made = description_of(*match->job, sentence_of(*match, named));
      complete_by_agents(made, jobs, *match->job, options, hosts);
      return made;
    }
    if (!wait_before_the_next_look(until)) return fail(cancelled_look());
  }
}

}  // namespace mpiacq
