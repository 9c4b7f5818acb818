// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/slurm_job.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_list.hpp"

namespace mpiacq {

namespace {

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = problem == std::errc{} && end == text.data() + text.size();
  return is_number ? std::optional{number} : std::nullopt;
}

bool is_meant(const listed_job& job, const slurm_job& wanted) {
  return job.slurm && job.slurm->id == wanted.id && (!wanted.step || job.slurm->step == wanted.step);
}

error no_such_job(const job_list& list, const slurm_job& wanted) {
  std::string message = fmt::format("no process of this node that may be looked at belongs to {} {} of Slurm",
                                    wanted.step ? "step" : "job", wanted.text());
  std::string others;
  for (const listed_job& job : list.jobs) {
    if (job.slurm) others += (others.empty() ? "" : ", ") + job.slurm->text();
  }
  if (!others.empty()) message += fmt::format(" (there are processes of {})", others);
  return {error_code::not_found,
          fmt::format("{}: it may run on other nodes, or be waiting: {}", message, remedies::ask_slurm_for_nodes)};
}

}  // namespace

std::optional<slurm_job> slurm_job::parse(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto id = number_in(text.substr(0, dot));
  if (!id || *id == 0) return std::nullopt;
  if (dot == std::string_view::npos) return slurm_job{*id, std::nullopt};
  const auto step_id = number_in(text.substr(dot + 1));
  return step_id ? std::optional{slurm_job{*id, step_id}} : std::nullopt;
}

std::string slurm_job::text() const {
  return step ? fmt::format("{}.{}", id, *step) : std::to_string(id);
}

result<process_id> process_of(const slurm_job& wanted, const list_options& options) {
  const auto list = TRY(list_jobs(options));
  std::vector<const listed_job*> found;
  for (const listed_job& job : list.jobs) {
    if (is_meant(job, wanted)) found.push_back(&job);
  }
  if (found.empty()) return fail(no_such_job(list, wanted));
  if (found.size() == 1) return found.front()->named;
  std::string names;
  for (const listed_job* const job : found) {
    names += fmt::format("{}{} (process {})", names.empty() ? "" : ", ", job->slurm->text(), job->named.value());
  }
  return fail(error_code::invalid_argument, fmt::format("{} of Slurm is {} jobs on this node: {}: {}", wanted.text(),
                                                        found.size(), remedies::name_a_job, names));
}

result<job_description> job::find(const slurm_job& wanted, const find_options& options, const time_limit& until) {
  return without_exceptions("looking for the job", [&]() -> result<job_description> {
    const auto named = TRY(process_of(wanted, {options.debug_files}));
    return find(named, options, until);
  });
}

}  // namespace mpiacq
