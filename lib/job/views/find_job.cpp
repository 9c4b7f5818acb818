// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "container_table.hpp"
#include "elsewhere_tables.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_list.hpp"
#include "proc/pid_namespace.hpp"
#include "starter/find_starter.hpp"
#include "starter/look_again.hpp"
#include "starter/missing_symbols.hpp"
#include "views/environment_description.hpp"
#include "views/mpi2dd_description.hpp"
#include "views/pmix_description.hpp"

namespace mpiacq {

namespace {

/// Two in a row that differ are of a job that grows; one that does so at every look is never held still.
constexpr int most_confirmations = 16;

/// One look: what the interface's state machine says of a target that cannot be written.
struct starter_look {
  mpir::acquisition eye;
  std::vector<error> problems;
  std::int64_t state = mpir::state_null;
  std::string missing_symbols;

  [[nodiscard]] bool has_table() const { return eye.table() && !eye.table()->empty(); }
  [[nodiscard]] bool is_complete() const {
    if (!has_table()) return false;
    return state != mpir::state_null || (eye.table()->problem_count() == 0 && !eye.table()->shortfall());
  }
};

result<starter_look> look_once(const process_facts& starter, running_target& opened, const table_limits& limits) {
  opened.forget();
  const target of_starter = opened.remembered();
  mpir::acquisition_options how;
  how.limits = limits;
  starter_look seen{mpir::acquisition(how), {}, mpir::state_null, {}};
  auto actions = TRY(seen.eye.at_attach(of_starter));
  // The number may have become another user's while the memory was read.
  if (!starter.is_unchanged()) {
    return fail(error_code::process_gone,
                fmt::format("the starter {} has ended, or has changed its user, while its table was read",
                            starter.pid().value()));
  }
  for (mpir::action& action : actions) {
    if (auto* problem = std::get_if<mpir::report_problem>(&action)) seen.problems.push_back(std::move(problem->what));
  }
  const mpir::symbol_set* known = seen.eye.symbols();
  if (known == nullptr) return seen;
  if (!known->complete()) {
    seen.missing_symbols =
        missing_symbols_sentence(*known, opened.symbols().modules(), opened.symbols().executable_is_stripped())
            .value_or("");
  }
  if (const auto& variable = (*known)[mpir::known::debug_state]) {
    // An integer variable has its symbol's size, a C int where that says nothing.
    const auto state =
        read_signed(of_starter.memory, of_starter.abi, variable->address(), variable->size == 0 ? 4 : variable->size);
    if (state) seen.state = *state;
  }
  return seen;
}

std::string program_of(running_target& opened) {
  return without_deleted_mark(opened.symbols().modules().front()->path);
}

error no_table_yet(const process_facts& starter, const starter_look& seen) {
  const std::string who = with_executable(starter);
  if (!seen.missing_symbols.empty())
    return {error_code::not_found, fmt::format("{} has no table: {}", who, seen.missing_symbols)};
  std::string message = fmt::format("the process table of {} is not complete", who);
  if (seen.has_table()) {
    message += fmt::format(" ({} of the fields of its {} entries are not there)", seen.eye.table()->problem_count(),
                           seen.eye.table()->size());
  } else {
    message += " (it has no entries)";
  }
  return {error_code::timed_out, message + ": the job may still be starting; wait for it, or attach to its starter"};
}

/// The job of a PMIx server. Empty: there is no server. An error says why the server gives no job.
result<std::optional<job_description>> find_pmix_job(process_id named, const find_options& options,
                                                     const time_limit& until) {
  const bool is_chosen = options.interface == interface_kind::pmix;
  auto place = is_chosen ? find_pmix_place_anywhere(named) : find_pmix_place(named);
  if (!place && !is_chosen) {
    // Open MPI 4 uses PMIx, too. MPIR counts there, whatever is wrong with its server's files.
    const auto facts = process_facts::open(named);
    if (facts && has_older_interface(*facts, options.debug_files)) return std::nullopt;
    // The variables of a rank may say where the server listens.
    place = find_pmix_place_anywhere(named);
  }
  if (!place) return fail(std::move(place).error());
  if (!*place) return std::nullopt;
  if (auto why = is_chosen ? std::nullopt : pmix::known_harm_of((*place)->server)) {
    if (has_older_interface(*(*place)->server.process, options.debug_files)) return std::nullopt;
    return fail(std::move(*why));
  }
  auto session = TRY(begin_pmix_session(**place, false, is_chosen ? nullptr : &options.debug_files));
  if (!session) return std::nullopt;
  auto job = TRY(describe_pmix_job(**place, std::move(*session), until));
  return job;
}

/// The starter; or the whole job, where the source of its table is no interface of the starter's memory: PMIx, or the
/// environment of the ranks.
result<std::variant<found_starter, job_description>> starter_or_job(process_id named, const find_options& options,
                                                                    const time_limit& until) {
  if (options.interface == interface_kind::pmix) {
    if (auto job = TRY(find_pmix_job(named, options, until))) return std::move(*job);
    return fail(no_pmix_job(named));
  }
  if (options.interface == interface_kind::environment) {
    if (auto job = TRY(find_environment_job(named, until, options))) return std::move(*job);
    return fail(no_environment_job(named));
  }
  if (!options.interface) {
    auto job = find_pmix_job(named, options, until);
    auto shortfall = job ? std::nullopt : std::optional{pmix_shortfall{job.error(), {}}};
    if (job && *job) shortfall = shortfall_of(**job);
    if (shortfall) return TRY(environment_job_after(std::move(*shortfall), named, options, until));
    if (*job) return std::move(**job);
  }
  auto found = find_starter(named, options.debug_files, options.interface);
  if (found) return std::move(*found);
  const error_code why = found.error().code;
  const bool is_final = options.interface || why == error_code::permission || why == error_code::process_gone;
  if (!is_final) {
    if (auto job = TRY(find_environment_job(named, until, options))) return std::move(*job);
  }
  return fail(std::move(found).error());
}

result<job_description> look_until_complete(process_id named, const find_options& options, const time_limit& until) {
  auto known = TRY(starter_or_job(named, options, until));
  if (auto* job = std::get_if<job_description>(&known)) return std::move(*job);
  found_starter found = std::move(std::get<found_starter>(known));
  if (!found.process) return fail(not_there(named));
  if (found.interface == interface_kind::mpi2dd) return describe_mpi2dd_job(std::move(found), options, until);
  const process_facts& starter = *found.process;
  std::shared_ptr<const process_table> before;
  int confirmations = 0;
  bool is_first = true;
  for (;;) {
    if (!found.target) found.target = TRY(running_target::open(found.pid, options.debug_files, starter.user()));
    auto seen = TRY(look_once(starter, *found.target, options.limits));
    if (seen.is_complete() && before && before->same_processes(*seen.eye.table())) {
      job_description described;
      described.starter = {found.pid, program_of(*found.target), false, std::move(found.how),
                           seen.eye.facts().starter_is_rank};
      described.launcher = launcher_of(described.starter.executable);
      described.processes = seen_from_here(seen.eye.table(), starter);
      described.locality = entry_locality(*described.processes);
      described.facts = seen.eye.facts();
      described.problems = std::move(seen.problems);
      return described;
    }
    // A complete table is looked at a second time at once.
    const bool confirms = seen.is_complete() && confirmations++ < most_confirmations;
    before = confirms ? seen.eye.table() : nullptr;
    if (confirms) continue;
    const bool is_late = clock::now() >= until.by;
    // Open MPI's mpirun never fills its table for ranks that do not call MPI_Init.
    if (!options.interface && !seen.has_table() && (is_late || is_first)) {
      if (auto job = environment_job_instead(found.pid, is_late, no_table_yet(starter, seen))) return std::move(*job);
    }
    is_first = false;
    if (is_late) return fail(no_table_yet(starter, seen));
    // The process may execute another program, or load libraries, meanwhile.
    found.target.reset();
    if (!wait_before_the_next_look(until)) return fail(cancelled_look());
  }
}

}  // namespace

result<job_description> job::find(const find_options& options, const time_limit& until) {
  return without_exceptions("looking for the job", [&]() -> result<job_description> {
    const auto named = TRY(only_job({options.debug_files}));
    return find(named, options, until);
  });
}

result<job_description> job::find(process_id named, const find_options& options, const time_limit& until) {
  return without_exceptions("looking at the job", [&]() -> result<job_description> {
    mpi2dd::walk_limits limits;
    limits.table = options.limits;
    find_options how = options;
    std::unique_ptr<elsewhere_tables> others;
    if (options.agents && !options.read_elsewhere) {
      others = tables_by_agents(named, *options.agents, limits, options.debug_files.folders);
      how.read_elsewhere = others->reader();
    }
    auto found = look_until_complete(named, how, until);
    if (!found && found.error().code == error_code::permission) {
      if (auto why = why_no_access(named)) return fail(std::move(*why));
    }
    return found;
  });
}

}  // namespace mpiacq
