// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the requests of a rank's call say about the operations that it waits for.
#pragma once

#include <string>

#include "mpiacq/queues/mpi_call.hpp"

namespace mpiacq::waits {

/// Whether these requests are for sends or receives.
[[nodiscard]] bool is_message(const pending_requests& one);
/// Whether every request that the call names is known.
[[nodiscard]] bool knows_requests(const rank_activity& doing);
/// Whether the call may wait for a send or a receive. Only its requests can rule it out.
[[nodiscard]] bool may_wait_for_messages(const rank_activity& doing);
/// Whether the call names pending requests that are no sends or receives.
[[nodiscard]] bool has_other_requests(const rank_activity& doing);
/// Whether the call goes on only after each of its requests: another request may end MPI_Waitany and MPI_Waitsome.
[[nodiscard]] bool needs_each_request(const rank_activity& doing);
/// "a collective operation", "3 point-to-point operations", "a request that the program itself completes".
[[nodiscard]] std::string requests_text(const pending_requests& requests);

}  // namespace mpiacq::waits
