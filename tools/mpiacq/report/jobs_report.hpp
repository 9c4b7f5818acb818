// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "mpiacq/job/job_list.hpp"

namespace mpiacq::tool {

class json_writer;

/// The jobs of this node, for one of the reports below.
struct jobs_snapshot {
  job_list list;
  std::size_t width = 0;  ///< columns of the terminal; 0: no terminal, and no line is cut
};

/// The text report: a table, and the next steps; without its program's name before the first line.
[[nodiscard]] std::string jobs_text(const jobs_snapshot& snapshot);
/// A `mpiacq.jobs/1` document.
void write_jobs(json_writer& out, const jobs_snapshot& snapshot);

/// The name of a user; empty if the system knows none.
[[nodiscard]] std::string user_name(user_id user);

}  // namespace mpiacq::tool
