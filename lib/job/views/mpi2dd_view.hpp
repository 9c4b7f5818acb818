// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/job/job_view.hpp"
#include "starter/find_starter.hpp"

namespace mpiacq {

/// `look_at_job` for an MPI2DD job: its graph is walked from outside until two walks say the same.
[[nodiscard]] result<job_view> look_at_mpi2dd_job(found_starter starter, const look_options& options, deadline until);

}  // namespace mpiacq
