// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/job/job_description.hpp"

namespace mpiacq::tool {

/// Where the process table of a report comes from, and what started the job.
struct job_origin {
  interface_kind source = interface_kind::mpir;
  launcher_kind launcher = launcher_kind::unknown;
};

/// "/usr/bin/mpirun (pid 42)"; for a job whose starter is not on this node "a job of slurm".
[[nodiscard]] std::string starter_text(const starter_facts& starter, const job_origin& origin);
/// A line that names the source and what it cannot do.
[[nodiscard]] std::string source_line(const job_origin& origin);

}  // namespace mpiacq::tool
