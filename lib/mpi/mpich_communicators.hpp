// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// Adds to a report what MPICH's queue library leaves out. As a communicator's id the library gives its address, which
/// differs between processes. This function replaces the id with the context id, which is the same in all members, and
/// sets whether it is an intercommunicator. The report stays as it was if the process has another MPI, or if the
/// process's memory does not confirm the report.
void look_at_mpich_communicators(target& process, type_source& types, queue_report& report);

}  // namespace mpiacq
