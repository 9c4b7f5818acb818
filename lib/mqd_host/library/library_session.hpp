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

/// What a library is told of a process beside what it reads of it.
struct session_facts {
  std::uint32_t identity = 0;  ///< its number in the job
  std::string image;           ///< the program's name, for the library's messages
};

/// Asks a library about one process, from setting it up to putting it away, in the order that libraries count on. What
/// it says goes to `sink`. An error: it gave nothing at all, or (after `sink.has_queues`) the process cannot be read
/// any further.
///
/// Clocks are looked at between calls only: whoever wants a call ended that does not come back runs this in a process
/// of its own. Thread: one session at a time in a process; a library has variables of its own.
[[nodiscard]] result<void> run_session(queue_library& library, process_answers& answers, const session_facts& facts,
                                       const queue_limits& limits, report_sink& sink);

}  // namespace mpiacq::mqd_host
