// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "frame_records.hpp"
#include "frame_rule.hpp"

namespace mpiacq::unwinding {

/// Runs the programs of a frame's records as far as the instruction `code` bytes behind the beginning of what the FDE
/// covers, and gives the row that holds there. Empty where that has anything beside the plain rules of `frame_rule`
/// (expressions, registers kept in registers, undefined registers other than the return address), and where a program
/// does not hold together: libunwind is the one to judge that.
[[nodiscard]] std::optional<frame_rule> evaluate_row(const checked_frame& frame, std::uint64_t code);

}  // namespace mpiacq::unwinding
