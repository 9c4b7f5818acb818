// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "commands/rank_commands.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"

namespace mpiacq::tool {

/// When a person would begin to wonder.
inline constexpr std::chrono::seconds patience_of_a_person{5};

/// --timeout as a moment; none is for ever.
[[nodiscard]] deadline deadline_after(std::optional<double> seconds);

/// So long, or until `stop` can be read (-1: it never can): whether it can.
[[nodiscard]] bool stopped_within(std::chrono::milliseconds time, int stop);

/// Until the job, a signal, a command (where there are any) or `other` (a descriptor; -1: none) has something, or
/// `until`, or the job wants to be asked.
void wait_for_either(const job& subject, const signal_catcher& signals, const rank_commands* commands, int other,
                     deadline until);

}  // namespace mpiacq::tool
