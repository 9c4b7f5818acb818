// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job_list.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "environment_jobs.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "launcher_variables.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "proc/process_age.hpp"
#include "proc/process_state.hpp"
#include "starter/searched_programs.hpp"
#include "starter/slurm_step.hpp"
#include "starter/starter_sight.hpp"
#include "views/environment_description.hpp"
#include "views/mpi2dd_description.hpp"
#include "views/pmix_description.hpp"

namespace mpiacq {

namespace {

/// By the user of the job: a starter can list the processes of other users, and that says nothing of their jobs.
using processes_by_user = std::unordered_map<user_id, std::unordered_set<process_id>>;

bool contains(const processes_by_user& all, user_id user, process_id pid) {
  const auto of_user = all.find(user);
  return of_user != all.end() && of_user->second.contains(pid);
}

/// This program, its parent, the parent of that one, and so on.
std::vector<process_id> line_of_caller(node_processes& node) {
  std::vector<process_id> line = {process_id{::getpid()}};
  while (line.size() < node_processes::most_generations) {
    const auto parent = node.parent_of(line.back());
    if (!parent) break;
    line.push_back(*parent);
  }
  return line;
}

std::vector<std::string> command_of(const process_facts& process) {
  constexpr std::size_t most_words = 256, most_bytes = 4096;
  std::vector<std::string> words;
  std::size_t bytes = 0;
  const auto& all = process.command_line();
  if (!all) return words;
  (void)any_of_strings(*all, [&](std::string_view word) {
    words.emplace_back(word.substr(0, most_bytes - bytes));
    bytes += words.back().size();
    return words.size() >= most_words || bytes >= most_bytes;
  });
  return words;
}

void take_process(listed_job& job, const process_facts& process) {
  job.named = process.pid();
  const auto started = std::chrono::system_clock::now() - age_of(process.start_time());
  job.started = std::chrono::time_point_cast<std::chrono::system_clock::duration>(started);
  job.command = command_of(process);
}

std::optional<slurm_job> slurm_job_in(std::string_view job, std::string_view step) {
  if (job.empty()) return std::nullopt;
  return slurm_job::parse(step.empty() ? std::string(job) : fmt::format("{}.{}", job, step));
}

/// The variables of a rank name it, also if another launcher than Slurm has started the rank.
std::optional<slurm_job> slurm_job_around(node_processes& node, process_id rank) {
  const auto process = node.facts_of(rank);
  if (!process) return std::nullopt;
  const launcher_variables told = decode_launcher_variables(process->environment().value_or(""));
  return slurm_job_in(told.slurm_job, told.slurm_step);
}

std::string job_id_of(const mpir::job_facts& facts) {
  return facts.step_id ? fmt::format("{}.{}", *facts.job_id, *facts.step_id) : *facts.job_id;
}

/// All PMIx servers of a node together have so long to answer.
constexpr std::chrono::seconds time_for_servers{10};

/// Jobs whose starter has a table.
class table_jobs {
 public:
  table_jobs(node_processes& node, const list_options& options)
      : node_(node), options_(options), line_(line_of_caller(node)) {}

  void look() {
    for (const process_id pid : node_.parents()) {
      const auto process = node_.facts_of(pid);
      if (!process || !process->executable() || process->stat().has_ended()) continue;
      if (!is_for_caller(process->user())) continue;
      ++candidates_;
      if (auto job = job_of(process)) add(process, std::move(*job));
    }
  }

  /// Asks the starters that are PMIx servers, and that have no other table.
  void ask_servers() {
    for (const process_id pid : node_.parents()) {
      const launcher_program program = node_.program_of(pid);
      const bool may_serve =
          program.launcher != nullptr && program.is_starter &&
          (program.launcher->kind == launcher_kind::open_mpi || program.launcher->kind == launcher_kind::prrte);
      const auto process = may_serve ? node_.facts_of(pid) : nullptr;
      if (!process || process->stat().has_ended() || !is_for_caller(process->user())) continue;
      if (contains(starters_, process->user(), pid)) continue;
      ask_server_of(process);
    }
  }
  /// Why a PMIx server of this node told no job; null if none failed.
  [[nodiscard]] const error* problem_of(process_id starter) const {
    const auto found = silent_.find(starter);
    return found == silent_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::vector<listed_job>& jobs() { return jobs_; }
  [[nodiscard]] std::size_t candidates() const { return candidates_; }
  /// Whether a process is a rank or the starter of a job of this user that is listed already.
  [[nodiscard]] bool knows(user_id user, process_id pid) const {
    return contains(members_, user, pid) || contains(starters_, user, pid);
  }

 private:
  [[nodiscard]] static bool is_for_caller(user_id user) {
    const user_id own{::geteuid()};
    constexpr user_id root{0};
    return user != no_user && (user == own || own == root);
  }

  void ask_server_of(const std::shared_ptr<const process_facts>& process) {
    // A list waits for all servers together no longer than for one.
    const auto place = find_pmix_place(process->pid());
    if (!place || !*place) {
      if (!place) silent_.emplace(process->pid(), place.error());
      return;
    }
    if (auto why = pmix::known_harm_of((*place)->server)) {
      silent_.emplace(process->pid(), std::move(*why));
      return;
    }
    auto answer = ask_server((*place)->server, {servers_until_, -1});
    if (!answer) {
      silent_.emplace(process->pid(), std::move(answer).error());
      return;
    }
    for (pmix::pmix_answer& one : jobs_in(std::move(*answer))) {
      std::string nspace = one.worlds.front().nspace;
      add(process, description_of(**place, std::move(one)));
      if (!jobs_.back().job_id) jobs_.back().job_id = std::move(nspace);
    }
  }

  std::optional<job_description> job_of(const std::shared_ptr<const process_facts>& process) {
    const auto program = searched_programs::program_of(*process);
    if (searched_.lacks_symbols(program)) return std::nullopt;
    const auto seen = look_at_starter(*process, options_.debug_files);
    if (!seen) return std::nullopt;
    const auto info = mpi2dd::find_info(seen->target->as_target());
    if (!seen->has_interface && info && !*info) searched_.note_lack(*process, program);
    if (info && *info) {
      if (auto newer = mpi2dd_job_of(process, *seen, (*info)->address())) return newer;
    }
    if (!seen->table || !process->is_unchanged()) return std::nullopt;
    job_description job;
    job.starter.pid = process->pid();
    job.starter.executable = process->executable().value_or("");
    job.launcher = launcher_of(job.starter.executable);
    job.processes = seen->table;
    job.locality = entry_locality(*job.processes);
    job.facts = seen->facts;
    return job;
  }

  std::optional<job_description> mpi2dd_job_of(const std::shared_ptr<const process_facts>& process,
                                               const starter_sight& seen, target_address info) {
    const auto block = mpi2dd::read_info_block(seen.target->as_target(), info);
    if (!block || !block->mpi_flags.has(mpi2dd::mpi_flag::i_am_starter)) return std::nullopt;
    found_starter starter{process->pid(), process, {}, interface_kind::mpi2dd};
    auto job = describe_mpi2dd_job(std::move(starter), {{}, options_.debug_files}, clock::now());
    return job ? std::optional{std::move(*job)} : std::nullopt;
  }

  /// A starter may have forked without an exec: the copy has a copy of the table.
  [[nodiscard]] bool is_copy(const process_facts& process) {
    if (!contains(starters_, process.user(), process.parent())) return false;
    const auto parent = node_.facts_of(process.parent());
    return parent && is_copy_of(process, *parent);
  }

  void add(const std::shared_ptr<const process_facts>& process, job_description job) {
    if (is_copy(*process)) return;
    listed_job row;
    row.source = job.source;
    row.launcher = job.launcher;
    take_process(row, *process);
    row.starter = process->pid();
    row.executable = job.starter.executable;
    if (job.facts.job_id) row.job_id = job_id_of(job.facts);
    if (job.launcher == launcher_kind::slurm && job.facts.job_id) {
      row.slurm = slurm_job_in(*job.facts.job_id, job.facts.step_id.value_or(""));
    } else if (const auto around = slurm_step_of(*job.processes, process->pid())) {
      row.slurm = slurm_job_in(around->job, around->step.value_or(""));
    }
    row.ranks = job.processes->size();
    row.user = process->user();
    row.problems = other_users_ranks(*job.processes, job.locality);
    row.problems.insert(row.problems.end(), job.problems.begin(), job.problems.end());
    starters_[row.user].insert(process->pid());
    for (const entry_index entry : job.processes->entries()) {
      if (!job.is_local(entry)) continue;
      ++row.ranks_here;
      const process_id pid = job.processes->pid(entry);
      members_[row.user].insert(pid);
      row.contains_caller = row.contains_caller || std::find(line_.begin(), line_.end(), pid) != line_.end();
    }
    jobs_.push_back(std::move(row));
  }

  node_processes& node_;
  const list_options& options_;
  std::vector<listed_job> jobs_;
  std::vector<process_id> line_;
  processes_by_user starters_;
  processes_by_user members_;
  std::size_t candidates_ = 0;
  searched_programs searched_;
  std::unordered_map<process_id, error> silent_;  ///< PMIx servers that told no job
  deadline servers_until_ = clock::now() + time_for_servers;
};

bool is_listed(const table_jobs& with_tables, const environment_job& job) {
  if (job.starter && with_tables.knows(job.user, job.starter->pid())) return true;
  return std::any_of(job.worlds.begin(), job.worlds.end(), [&](const environment_world& world) {
    return std::any_of(world.ranks.begin(), world.ranks.end(),
                       [&](const environment_rank& one) { return with_tables.knows(job.user, one.pid); });
  });
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    if (!value.empty()) text += (text.empty() ? "" : ".") + value;
  }
  return text;
}

/// Empty if the process that would name the job has ended meanwhile.
std::optional<listed_job> row_of(environment_jobs& all, const environment_job& job) {
  const auto first = job.starter ? job.starter : all.node().facts_of(job.first_rank().pid);
  if (!first) return std::nullopt;
  const job_description described = description_of(job, {});
  listed_job row;
  row.source = interface_kind::environment;
  row.launcher = described.launcher;
  take_process(row, *first);
  if (job.starter) row.starter = job.starter->pid();
  row.executable = described.starter.executable;
  if (!job.id.empty()) row.job_id = joined(job.id);
  row.slurm = slurm_job_around(all.node(), job.first_rank().pid);
  row.ranks_here = job.ranks_here();
  row.ranks = job.size();
  row.user = job.user;
  row.problems = job.problems;
  row.contains_caller = all.is_inside(process_id{::getpid()}, job);
  return row;
}

/// The daemon of a resource manager, or of a remote mpirun, may have started several jobs: a rank leads to one.
void name_each_job_once(std::vector<listed_job>& rows, environment_jobs& all) {
  for (listed_job& row : rows) {
    const auto same = std::count_if(rows.begin(), rows.end(), [&](const auto& one) { return one.named == row.named; });
    if (row.source != interface_kind::environment || same < 2) continue;
    const auto job = std::find_if(all.all().begin(), all.all().end(), [&](const environment_job& one) {
      return one.starter && one.starter->pid() == row.named && row.job_id.value_or("") == joined(one.id);
    });
    if (job != all.all().end()) row.named = job->first_rank().pid;
  }
}

std::string names_of(const std::vector<const listed_job*>& jobs) {
  constexpr std::size_t most_shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(jobs.size(), most_shown); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", jobs[i]->named.value(), name(jobs[i]->launcher));
  }
  return jobs.size() > most_shown ? text + ", ..." : text;
}

}  // namespace

std::vector<std::string_view> launchers_by_environment() {
  std::vector<std::string_view> names;
  for (const known_launcher& one : known_launchers()) names.push_back(one.name);
  return names;
}

result<job_list> list_jobs(const list_options& options) {
  return without_exceptions("listing the jobs", [&]() -> result<job_list> {
    environment_jobs by_environment(proc_folder, node_pass::environments_and_parents);
    table_jobs with_tables(by_environment.node(), options);
    with_tables.look();
    with_tables.ask_servers();
    job_list list;
    list.jobs = std::move(with_tables.jobs());
    for (const environment_job& job : by_environment.all()) {
      if (is_listed(with_tables, job)) continue;
      auto row = row_of(by_environment, job);
      if (!row) continue;
      if (const error* why = row->starter ? with_tables.problem_of(*row->starter) : nullptr) {
        row->problems.push_back(*why);
      }
      list.jobs.push_back(std::move(*row));
    }
    name_each_job_once(list.jobs, by_environment);
    std::stable_sort(list.jobs.begin(), list.jobs.end(),
                     [](const listed_job& a, const listed_job& b) { return a.started < b.started; });
    list.processes = by_environment.node().count();
    list.refused = by_environment.node().refused();
    list.possible_starters = with_tables.candidates();
    return list;
  });
}

result<process_id> only_job(const job_list& list) {
  std::vector<const listed_job*> candidates;
  for (const listed_job& job : list.jobs) {
    if (!job.contains_caller) candidates.push_back(&job);
  }
  if (candidates.size() == 1) return candidates.front()->named;
  if (candidates.empty() && !list.jobs.empty()) {
    return fail(error_code::not_found,
                "this program runs inside of all jobs of this node that it may look at: name a process of the job");
  }
  if (candidates.empty()) {
    return fail(error_code::not_found, "there is no parallel job on this node that this program may look at");
  }
  return fail(error_code::invalid_argument, fmt::format("there are {} jobs on this node: {}: {}", candidates.size(),
                                                        remedies::name_a_job, names_of(candidates)));
}

result<process_id> only_job(const list_options& options) {
  const auto list = TRY(list_jobs(options));
  return only_job(list);
}

}  // namespace mpiacq
