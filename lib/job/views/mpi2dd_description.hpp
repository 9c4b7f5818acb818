// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/job/job_description.hpp"
#include "starter/find_starter.hpp"

namespace mpiacq {

/// `job::find` for an MPI2DD job: its graph is walked from outside until two walks say the same.
[[nodiscard]] result<job_description> describe_mpi2dd_job(found_starter starter, const find_options& options,
                                                          const time_limit& until);

}  // namespace mpiacq
