// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/environment_description.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "proc/local_host.hpp"
#include "proc/process_age.hpp"
#include "starter/find_starter.hpp"
#include "starter/look_again.hpp"

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

std::string sentence_of(const environment_match& match, process_id named) {
  if (match.how.empty()) return {};
  const auto process = process_facts::open(named);
  const std::string who = process ? with_executable(*process) : std::to_string(named.value());
  return fmt::format("{} {} this job", who, match.how);
}

}  // namespace

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

result<std::optional<job_description>> find_environment_job(process_id named, const time_limit& until) {
  for (;;) {
    environment_jobs jobs;
    const auto match = TRY(jobs.job_of(named));
    const bool is_launcher = jobs.node().program_of(named).launcher != nullptr;
    const bool is_early = match ? may_be_starting(*match->job) : is_launcher;
    if (!is_early || clock::now() >= until.by) {
      if (!match) return std::nullopt;
      return description_of(*match->job, sentence_of(*match, named));
    }
    if (!wait_before_the_next_look(until)) return fail(cancelled_look());
  }
}

}  // namespace mpiacq
