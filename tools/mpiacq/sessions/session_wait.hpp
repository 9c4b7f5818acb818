// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>

#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"
#include "sessions/rank_commands.hpp"

namespace mpiacq::tool {

/// After this time a user expects an explanation.
inline constexpr std::chrono::seconds patience_of_a_person{5};

/// --timeout as a point in time; without it, `no_deadline`.
[[nodiscard]] deadline deadline_after(std::optional<double> seconds);

/// The timeout of poll(2) for a wait until `until`: -1 without a deadline, and at most a minute.
[[nodiscard]] int milliseconds_until(deadline until);

/// Waits until the descriptor is readable, or until `until`. Returns whether it is readable; -1 never is.
[[nodiscard]] bool is_readable_by(deadline until, int descriptor);
/// The same for a length of time.
[[nodiscard]] bool stopped_within(std::chrono::milliseconds time, int stop);
/// Waits until one of the descriptors is readable, or until `until`; -1 never is.
void wait_for_any(std::initializer_list<int> descriptors, deadline until);

/// Waits until the job, a signal, a command of --each (if there are any) or `other` (a descriptor; -1: none) is ready,
/// until `until`, or until the job has to be asked again.
void wait_for_either(const job& subject, const signal_catcher& signals, const rank_commands* commands, int other,
                     deadline until);

}  // namespace mpiacq::tool
