// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/core_table.hpp"

#include <utility>
#include <variant>

#include "errors/try.hpp"
#include "parts/seen_state.hpp"
#include "proc/process_state.hpp"
#include "starter/missing_symbols.hpp"
#include "table_hosts.hpp"

namespace mpiacq {

namespace {

rank_state state_now(const process_table& table, entry_index entry, bool is_local) {
  if (!is_local) return rank_state::remote;
  const auto executable = table.executable_name(entry);
  const auto process = process_facts::open(table.pid(entry));
  if (!process) return process.error().code == error_code::process_gone ? rank_state::gone : rank_state::unknown;
  if (!executable || !runs_program(process->executable().value_or(""), *executable)) return rank_state::gone;
  return seen_state(process->stat().run());
}

void look_at_ranks(core_table& job) {
  const process_table& table = *job.processes;
  job.locality = entry_locality(table);
  for (std::size_t i = 0; i < table.size(); ++i) {
    job.states.push_back(state_now(table, entry_index{i}, job.locality.is_local(entry_index{i})));
  }
}

void take(core_table& job, mpir::action& action) {
  if (auto* report = std::get_if<mpir::report_processes>(&action)) {
    job.processes = std::move(report->table);
  } else if (auto* abort = std::get_if<mpir::report_abort>(&action)) {
    job.aborting = true;
    job.abort_reason = std::move(abort->reason);
  } else if (auto* problem = std::get_if<mpir::report_problem>(&action)) {
    job.problems.push_back(std::move(problem->what));
  }
}

}  // namespace

result<core_table> read_core(const std::string& path, const core_options& options) {
  auto core = TRY(core_file::open(path, options.files));
  auto symbols = TRY(core_symbols::open(*core, options.debug_files));

  core_table job;
  job.path = path;
  job.abi = core->abi();
  job.signal = core->signal();
  job.starter.pid = core->pid();
  job.starter.executable = core->executable();
  job.starter.launched = false;

  page_cache memory(*core);
  // Nothing can be written into a core, and so nothing is asked for but what there is.
  mpir::acquisition interface(mpir::acquisition_options{options.limits, {}, false});
  auto actions = interface.at_attach({memory, nullptr, job.abi, *symbols});
  if (!actions) return fail(std::move(actions).error().while_doing("reading the core file " + path));
  for (mpir::action& action : *actions) take(job, action);

  job.facts = interface.facts();
  job.starter.is_rank = job.facts.starter_is_rank;
  if (interface.symbols() != nullptr) job.symbols = *interface.symbols();
  if (!job.symbols.complete()) {
    job.missing_symbols = missing_symbols_sentence(job.symbols, symbols->modules(), symbols->executable_is_stripped());
  }
  if (job.processes) look_at_ranks(job);
  for (const auto& problems : {core->problems(), symbols->problems()}) {
    job.problems.insert(job.problems.end(), problems.begin(), problems.end());
  }
  return job;
}

}  // namespace mpiacq
