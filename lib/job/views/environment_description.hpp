// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "environment_jobs.hpp"
#include "mpiacq/job/job_description.hpp"
#include "parts/awaited_ranks.hpp"

namespace mpiacq {

/// `job::find` by the variables that launchers set. A launcher without ranks, or with fewer than it says that it starts
/// on this node, may still be starting them: it is looked at again until `until`. Empty: `named` belongs to no such
/// job. `options`: how ranks on other nodes are found. `hosts`: where another source has seen ranks of the job; agents
/// look there if the options name no hosts. Errors: as `environment_jobs::job_of`; timed_out (cancelled).
[[nodiscard]] result<std::optional<job_description>> find_environment_job(process_id named, const time_limit& until,
                                                                          const find_options& options = {},
                                                                          const std::vector<std::string>& hosts = {});

/// Why there is no such process.
[[nodiscard]] error not_there(process_id named);
/// Why `find_environment_job` has found nothing.
[[nodiscard]] error no_environment_job(process_id named);

/// The job as it is now, if it is complete as far as its ranks show: none of them is young. `no_table`: the problem of
/// the starter's interface. Empty: there is no such job, or it may still be starting and `may_be_early` is false.
[[nodiscard]] std::optional<job_description> environment_job_instead(process_id named, bool may_be_early,
                                                                     error no_table);

/// The job of a launched starter whose ranks appear one after the other.
struct starting_job {
  job_description job;
  rank_count count = rank_count::uncounted;
  bool is_started_below = false;  ///< the starter of `job` is the process that was launched, or descends from it
};
/// The job whose ranks descend from `root`, or have started with it; the one with all its ranks if there are several.
/// Empty if there is none yet.
[[nodiscard]] std::optional<starting_job> starting_job_below(process_id root);

/// A job in the form in which `job::find` gives it. `how`: `starter_facts::found_how`.
[[nodiscard]] job_description description_of(const environment_job& job, std::string how);

}  // namespace mpiacq
