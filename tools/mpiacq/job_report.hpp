// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job.hpp"
#include "mpiacq/spawn_watch.hpp"
#include "queues_report.hpp"
#include "stacks_report.hpp"

namespace mpiacq::tool {

/// What there is to say of a job at one event.
struct job_snapshot {
  enum class event : unsigned char { spawned, attached, aborting, changed, new_processes };
  event what = event::spawned;
  std::optional<std::string> abort_reason;
  const job_change* change = nullptr;  ///< what an event of MPI2DD was; always there for `changed`
  const job& subject;
  const std::vector<error>& problems;       ///< of the job as a whole, so far
  const stacks_snapshot* stacks = nullptr;  ///< --stacks
  const queues_snapshot* queues = nullptr;  ///< --queues
  bool colour = false;
  const rank_spawn* spawn = nullptr;  ///< always there for `new_processes`
};

/// For people: a headline, the table, what to know about it.
[[nodiscard]] std::string job_text(const job_snapshot& snapshot);

/// A `mpiacq.job/1` document, with a line feed.
[[nodiscard]] std::string job_json(const job_snapshot& snapshot);

}  // namespace mpiacq::tool
