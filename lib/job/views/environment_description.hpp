// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "environment_jobs.hpp"
#include "mpiacq/job/job_description.hpp"

namespace mpiacq {

/// `job::find` by the variables that launchers set. A launcher without ranks, or with fewer than it says that it starts
/// on this node, may still be starting them: it is looked at again until `until`. Empty: `named` belongs to no such
/// job. Errors: as `environment_jobs::job_of`; timed_out (cancelled).
[[nodiscard]] result<std::optional<job_description>> find_environment_job(process_id named, const time_limit& until);

/// The job as it is now, if it is complete as far as its ranks show: none of them is young. `no_table`: the problem of
/// the starter's interface. Empty: there is no such job, or it may still be starting and `may_be_early` is false.
[[nodiscard]] std::optional<job_description> environment_job_instead(process_id named, bool may_be_early,
                                                                     error no_table);

/// A job in the form in which `job::find` gives it. `how`: `starter_facts::found_how`.
[[nodiscard]] job_description description_of(const environment_job& job, std::string how);

}  // namespace mpiacq
