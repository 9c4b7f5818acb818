// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// What Open MPI's queue library leaves out of a report: which communicators are intercommunicators, and who is on
/// their other side. It is read out of the structures that the library itself reads. Where the process has another MPI,
/// a type is not known, or memory does not bear it out, the report stays as it was.
void look_at_openmpi_communicators(target& process, type_source& types, queue_report& report);

}  // namespace mpiacq
