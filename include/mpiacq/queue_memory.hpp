// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How much memory the reports of queue libraries may hold. A library reports what it likes, and it is foreign code.
#pragma once

#include <cstdint>

#include "mpiacq/message_queues.hpp"

namespace mpiacq {

/// That the report of one process may hold, in bytes. What a library reports beyond is not kept, and the report says
/// so.
inline constexpr std::uint64_t most_report_bytes = std::uint64_t{24} << 20U;

/// About how many bytes of memory these hold, with the room that a growing list has beyond its elements.
[[nodiscard]] std::uint64_t bytes_held(const queue_operation& operation);
[[nodiscard]] std::uint64_t bytes_held(const queue_communicator& communicator);  ///< without its operations
[[nodiscard]] std::uint64_t bytes_held(const queue_report& report);

}  // namespace mpiacq
