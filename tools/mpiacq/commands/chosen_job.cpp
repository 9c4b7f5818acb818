// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/chosen_job.hpp"

#include "commands/complaints.hpp"
#include "mpiacq/job/job_list.hpp"
#include "report/jobs_report.hpp"

namespace mpiacq::tool {

std::optional<process_id> job_meant(const std::optional<job_operand>& named, const report_options& report) {
  if (named && std::holds_alternative<process_id>(*named)) return std::get<process_id>(*named);
  if (named) {
    const auto found = process_of(std::get<slurm_job>(*named), {search_without_downloads(report)});
    if (found) return *found;
    complain(found.error());
    return std::nullopt;
  }
  auto list = list_jobs({search_without_downloads(report)});
  if (!list) {
    complain(list.error());
    return std::nullopt;
  }
  const auto only = only_job(*list);
  if (only) return *only;
  const bool is_empty = list->jobs.empty();
  complain_in_lines(jobs_text({std::move(*list), 0}));
  // The text already says that there is no job.
  if (!is_empty) complain(only.error());
  return std::nullopt;
}

}  // namespace mpiacq::tool
