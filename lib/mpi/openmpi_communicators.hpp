// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// A communicator of a report, and its object in the memory of the process.
struct described_communicator {
  target_address object;
  queue_communicator* told = nullptr;  ///< in the report
};
/// The objects of a report's communicators, in the order of Open MPI's own list. An object counts only if its number
/// and its rank are those of the report. Empty if the process has another MPI, or if a type is not known.
[[nodiscard]] std::vector<described_communicator> find_described_communicators(target& process, type_source& types,
                                                                               queue_report& report);

/// Adds to a report what Open MPI's queue library leaves out: which communicators are intercommunicators, and their
/// remote groups. The function reads the same structures as the library. The report stays as it was if the process has
/// another MPI, if a type is not known, or if the process's memory does not confirm the report.
void look_at_openmpi_communicators(target& process, type_source& types, queue_report& report);

}  // namespace mpiacq
