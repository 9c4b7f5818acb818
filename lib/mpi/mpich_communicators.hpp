// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// What MPICH's queue library leaves out of a report. It gives for a communicator's id where that stands in the
/// process, which is elsewhere in each: its context id, by which MPICH itself knows it in all its members, takes that
/// place. And whether it is an intercommunicator. Where the process has another MPI, or memory does not bear it out,
/// the report stays as it was.
void look_at_mpich_communicators(target& process, type_source& types, queue_report& report);

}  // namespace mpiacq
