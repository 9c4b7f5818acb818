// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "library/process_answers.hpp"
#include "library/queue_library_calls.hpp"
#include "library/report_sink.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::mqd_host {

/// The facts about a process that a library gets besides the process's memory.
struct session_facts {
  std::uint32_t identity = 0;  ///< its number in the job
  std::string image;           ///< the program's name, for the library's messages
};

/// Runs a library for one process, from set-up to release, in the order that libraries rely on. The results go to
/// `sink`. An error: the library gave nothing at all, or (after `sink.has_queues`) the process cannot be read any
/// further.
///
/// The clock is checked only between calls. A caller that must end a call that hangs runs this in a separate process.
/// Thread: one session at a time in a process, because a library has global variables.
[[nodiscard]] result<void> run_session(queue_library& library, process_answers& answers, const session_facts& facts,
                                       const queue_limits& limits, report_sink& sink);

}  // namespace mpiacq::mqd_host
