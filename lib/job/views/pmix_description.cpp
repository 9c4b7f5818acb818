// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/pmix_description.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "environment_jobs.hpp"
#include "errors/try.hpp"
#include "mpiacq/base/host_names.hpp"
#include "proc/known_processes.hpp"
#include "server/version_text.hpp"
#include "starter/find_starter.hpp"
#include "starter/look_again.hpp"
#include "starter/slurm_step.hpp"
#include "starter/starter_sight.hpp"
#include "views/environment_description.hpp"

namespace mpiacq {

namespace {

using pmix::pmix_answer;
using pmix::pmix_world;

/// The programs of launchers but Open MPI's and PRRTE's answer no tool, also if they use PMIx: Slurm's daemons serve
/// ranks alone, and PyTorch's torchrun has the library because its own libraries need that of an MPI.
bool answers_no_tool(const process_facts& process) {
  const launcher_program program = launcher_program_of(process);
  return program.launcher != nullptr && program.launcher->kind != launcher_kind::open_mpi &&
         program.launcher->kind != launcher_kind::prrte;
}

result<std::optional<pmix_place>> server_above(known_processes& all, const process_facts& named,
                                               const pmix::told_by_rank& told) {
  for (const process_id pid : all.ancestors_of(named.pid())) {
    const auto above = all.find(pid);
    if (!above || above->user() != named.user() || above->user() == no_user || answers_no_tool(*above)) break;
    // A rank, or a process between a rank and its server, has the variables of the rank.
    const bool is_of_job = above->variable("PMIX_NAMESPACE").value_or("") == told.nspace;
    if (is_of_job) continue;
    auto found = TRY(pmix::find_server(above, told));
    if (found) return pmix_place{std::move(*found), named.pid(), told.nspace};
  }
  return std::nullopt;
}

std::shared_ptr<const process_table> table_of(const pmix_answer& job, user_id user) {
  std::vector<table_row> rows;
  std::vector<job_world> worlds;
  for (const pmix_world& world : job.worlds) {
    const auto number = static_cast<std::uint32_t>(worlds.size());
    job_world made{world.nspace, std::nullopt};
    if (world.spawned_by) {
      const std::uint32_t rank = std::min<std::uint32_t>(world.spawned_by->rank, INT32_MAX);
      made.spawned_by = job_world::origin{world.spawned_by->nspace, rank_number{static_cast<std::int32_t>(rank)}, 0};
    }
    worlds.push_back(std::move(made));
    for (const pmix::process_row& one : world.ranks) {
      rows.push_back(
          {one.host, one.executable, process_id{one.pid}, number, rank_number{static_cast<std::int32_t>(one.rank)}});
    }
  }
  // A job of one world whose ranks have no gaps is one as MPIR describes it.
  if (worlds.size() == 1 && job.worlds.front().ranks.back().rank + 1 == rows.size()) worlds.clear();
  auto table = std::make_shared<process_table>(make_process_table(rows, std::move(worlds), {}));
  table->belongs_to(user);
  return table;
}

/// A process that a server has not started yet has no pid.
bool may_be_starting(const job_description& job) {
  for (const entry_index entry : job.processes->entries()) {
    if (job.is_local(entry) && job.processes->pid(entry).value() <= 0) return true;
  }
  return false;
}

std::string how_found(const pmix_place& place, const process_table& table, const entry_locality& locality) {
  if (place.named == place.server.process->pid()) return {};
  const auto process = process_facts::open(place.named);
  const std::string who = process ? with_executable(*process) : std::to_string(place.named.value());
  for (const entry_index entry : table.entries()) {
    if (table.pid(entry) != place.named || !locality.is_local(entry)) continue;
    return fmt::format("{} is rank {} of this job, as its PMIx server {} says", who, table.names().of(entry),
                       place.server.process->pid().value());
  }
  return fmt::format("{} belongs to this job, whose PMIx server is {}", who, place.server.process->pid().value());
}

bool has_namespace(const pmix_answer& job, std::string_view nspace) {
  return std::any_of(job.worlds.begin(), job.worlds.end(), [&](const pmix_world& one) { return one.nspace == nspace; });
}

error several_jobs(const pmix_place& place, const std::vector<pmix_answer>& jobs) {
  constexpr std::size_t most_shown = 8;
  std::vector<std::string> names;
  for (const pmix_answer& one : jobs) names.push_back(one.worlds.front().nspace);
  if (names.size() > most_shown) names.resize(most_shown);
  return {error_code::invalid_argument,
          fmt::format("the PMIx server {} runs {} jobs ({}{}): name a rank of one of them",
                      with_executable(*place.server.process), jobs.size(), fmt::join(names, ", "),
                      jobs.size() > most_shown ? ", ..." : "")};
}

}  // namespace

result<std::optional<pmix_place>> find_pmix_place(process_id named) {
  known_processes all;
  const auto process = all.find(named);
  if (!process || process->stat().has_ended() || process->user() == no_user) return std::nullopt;
  const pmix::told_by_rank told = pmix::server_in_environment(process->environment().value_or(""));
  // A starter that was started by a rank has the variables of that rank, and a file of its own.
  if (answers_no_tool(*process)) return std::nullopt;
  auto itself = pmix::find_server(process);
  if (itself && *itself) return pmix_place{std::move(**itself), named, {}};
  if (told.nspace.empty()) {
    if (!itself && launcher_program_of(*process).launcher != nullptr) return fail(std::move(itself).error());
    return std::nullopt;
  }
  return server_above(all, *process, told);
}

result<std::optional<pmix_place>> find_pmix_place_anywhere(process_id named) {
  auto direct = find_pmix_place(named);
  if (direct && *direct) return direct;
  environment_jobs jobs;
  const auto match = jobs.job_of(named);
  if (!match || !*match || !(*match)->job->starter) return direct;
  const environment_job& job = *(*match)->job;
  if (job.starter->user() != job.user || answers_no_tool(*job.starter)) return direct;
  const auto rank = jobs.node().facts_of(job.first_rank().pid);
  const auto told = rank ? pmix::server_in_environment(rank->environment().value_or("")) : pmix::told_by_rank{};
  auto found = TRY(pmix::find_server(job.starter, told));
  if (!found) return direct;
  return pmix_place{std::move(*found), named, told.nspace};
}

std::vector<pmix_answer> jobs_in(pmix_answer answer) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < answer.worlds.size(); ++i) places.emplace(answer.worlds[i].nspace, i);
  // The world at the beginning of the chain of spawns. A chain that leads back to itself has none: a bound ends it.
  const auto root_of = [&](std::size_t at) {
    for (std::size_t steps = 0; steps < answer.worlds.size(); ++steps) {
      const auto& parent = answer.worlds[at].spawned_by;
      const auto above = parent ? places.find(parent->nspace) : places.end();
      if (above == places.end()) return at;
      at = above->second;
    }
    return at;
  };
  std::vector<std::size_t> roots;
  std::vector<pmix_answer> jobs;
  for (std::size_t i = 0; i < answer.worlds.size(); ++i) {
    const std::size_t root = root_of(i);
    const auto known = std::find(roots.begin(), roots.end(), root);
    if (known == roots.end()) {
      roots.push_back(root);
      jobs.emplace_back();
      jobs.back().problems = answer.problems;
    }
    const auto job = static_cast<std::size_t>(std::find(roots.begin(), roots.end(), root) - roots.begin());
    jobs[job].worlds.push_back(answer.worlds[i]);
  }
  return jobs;
}

result<pmix_answer> chosen_pmix_job(const pmix_place& place, pmix_answer all) {
  auto jobs = jobs_in(std::move(all));
  if (!place.nspace.empty()) {
    std::erase_if(jobs, [&](const pmix_answer& one) { return !has_namespace(one, place.nspace); });
  }
  if (jobs.size() > 1) return fail(several_jobs(place, jobs));
  if (jobs.empty()) {
    return fail(error_code::not_found,
                fmt::format("the PMIx server {} runs no job{}", with_executable(*place.server.process),
                            place.nspace.empty() ? "" : fmt::format(" with the namespace {}", place.nspace)));
  }
  return std::move(jobs.front());
}

job_description description_of(const pmix_place& place, pmix_answer answer) {
  const process_facts& starter = *place.server.process;
  job_description made;
  made.source = interface_kind::pmix;
  made.starter.pid = starter.pid();
  made.starter.executable = starter.executable().value_or(starter.stat().name);
  made.starter.launched = false;
  made.launcher = launcher_of(made.starter.executable);
  made.processes = table_of(answer, starter.user());
  made.locality = entry_locality(*made.processes);
  made.starter.found_how = how_found(place, *made.processes, made.locality);
  if (auto slurm = slurm_step_of(*made.processes, starter.pid())) {
    made.facts.job_id = std::move(slurm->job);
    made.facts.step_id = std::move(slurm->step);
  }
  made.problems = std::move(answer.problems);
  return made;
}

result<pmix_answer> ask_server(const pmix::pmix_server& server, const time_limit& until) {
  auto session = TRY(pmix::pmix_session::start(server, {}, until));
  auto answer = TRY(session.ask(until));
  // The number may have become another user's while the server was asked.
  if (server.process->is_unchanged()) return answer;
  return fail(error_code::process_gone,
              fmt::format("the starter {} has ended, or has changed its user, while it was asked",
                          server.process->pid().value()));
}

result<std::optional<pmix::pmix_session>> begin_pmix_session(const pmix_place& place, bool follows,
                                                             const debug_file_search* unless_older) {
  const auto is_older = [&] {
    return unless_older != nullptr && has_older_interface(*place.server.process, *unless_older);
  };
  // The starters of old releases have MPIR: the helper would be started in vain.
  const bool is_old = pmix::is_too_old_to_ask(place.server.version);
  if (is_old && is_older()) return std::nullopt;
  auto session = pmix::pmix_session::begin_start(place.server, {});
  if (!is_old && is_older()) return std::nullopt;
  if (!session) return fail(std::move(session).error());
  session->connect_and_ask(follows);
  return std::move(*session);
}

result<job_description> describe_pmix_job(const pmix_place& place, pmix::pmix_session session,
                                          const time_limit& until) {
  // A look at a job that runs is no wait for it: the server has its own time for the answer.
  const time_limit patience{no_deadline, until.stop};
  TRY(session.finish_start(patience));
  for (;;) {
    auto all = TRY(session.ask(patience));
    auto job = chosen_pmix_job(place, std::move(all));
    const bool is_late = clock::now() >= until.by;
    if (!job && (is_late || job.error().code != error_code::not_found)) return fail(std::move(job).error());
    if (job) {
      auto described = description_of(place, std::move(*job));
      if (is_late || !may_be_starting(described)) {
        if (place.server.process->is_unchanged()) return described;
        return fail(error_code::process_gone,
                    fmt::format("the starter {} has ended, or has changed its user, while it was asked",
                                place.server.process->pid().value()));
      }
    }
    if (!wait_before_the_next_look(until)) return fail(cancelled_look());
  }
}

std::optional<pmix_shortfall> shortfall_of(const job_description& job) {
  std::vector<std::string> hosts;
  for (const entry_index entry : job.processes->entries()) {
    if (job.is_local(entry) || job.processes->pid(entry).value() > 0) continue;
    const auto host = job.processes->host_name(entry);
    if (host && is_host_name(*host) && std::find(hosts.begin(), hosts.end(), *host) == hosts.end()) {
      hosts.emplace_back(*host);
    }
  }
  if (hosts.empty()) return std::nullopt;
  return pmix_shortfall{
      {error_code::not_found, fmt::format("the PMIx server {} ({}) has no pids of the ranks on other nodes",
                                          job.starter.pid.value(), job.starter.executable)},
      std::move(hosts)};
}

result<job_description> environment_job_after(pmix_shortfall instead_of, process_id named, const find_options& options,
                                              const time_limit& until) {
  auto job = TRY(find_environment_job(named, until, options, instead_of.hosts));
  if (!job) return fail(std::move(instead_of.why));
  instead_of.why.message =
      fmt::format("PMIx: {}; the environment of the ranks is used instead", instead_of.why.message);
  job->problems.insert(job->problems.begin(), std::move(instead_of.why));
  return std::move(*job);
}

error no_pmix_job(process_id named) {
  const auto process = process_facts::open(named);
  if (!process) return process.error();
  return {error_code::not_found, fmt::format("{} is no PMIx server that answers tools, and leads to none on this node",
                                             with_executable(*process))};
}

bool has_older_interface(const process_facts& process, const debug_file_search& search) {
  const auto seen = look_at_starter(process, search);
  return seen && seen->has_interface;
}

}  // namespace mpiacq
