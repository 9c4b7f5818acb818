// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The time limit of the batch job in which this command runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// The time limit of a batch job.
struct batch_limit {
  std::string job;            ///< "Slurm job 42"
  std::chrono::seconds left;  ///< until the batch system ends the job; positive
};

/// Asks the batch system: Slurm, PBS or Flux, by the environment of this command. A program of the batch system has ten
/// seconds to answer. Errors: not_found (there is no batch job, or no time limit; the sentence says what was looked
/// for), and the reasons why a program did not answer.
[[nodiscard]] result<batch_limit> find_batch_limit();

/// How long before the end of a job the report is made: a twentieth of the time that is left, at most a minute.
[[nodiscard]] std::chrono::duration<double> margin_before_end(std::chrono::seconds left);

// The parts, for tests.

/// A length of time as Slurm and PBS write it: "[DAYS-][HOURS:]MINUTES:SECONDS", or seconds. Empty: something else.
[[nodiscard]] std::optional<std::chrono::seconds> length_in(std::string_view text);
/// The time that is left of a job, from `qstat -f`. `now` is the time of the answer. Empty: it does not say.
[[nodiscard]] std::optional<std::chrono::seconds> left_by_qstat(std::string_view text,
                                                                std::chrono::system_clock::time_point now);

}  // namespace mpiacq::tool
