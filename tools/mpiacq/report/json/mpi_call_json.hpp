// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/queues/mpi_call.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

/// The `arguments` of a rank: the known arguments of its call. An address in the rank says nothing to a reader.
[[nodiscard]] json arguments_of(const rank_activity& doing);
/// The `requests` of a rank; null if its call names none, or if nothing is known of them.
[[nodiscard]] json requests_of(const rank_activity& doing);
[[nodiscard]] json called_communicator_of(const rank_activity& doing);
/// The `at` of a rank; null if the place is not known.
[[nodiscard]] json json_of_site(const call_site& site);

}  // namespace mpiacq::tool
