// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "rules/frame_records.hpp"
#include "rules/frame_row.hpp"
#include "rules/frame_rule.hpp"

namespace mpiacq::unwinding {

/// Runs the programs of a frame's records as far as the instruction `code` bytes behind the beginning of what the FDE
/// covers, and gives the row that holds there. Empty where a program does not hold together, and where it contains
/// DW_CFA_set_loc, which no compiler writes. The row refers to the bytes of `frame`.
[[nodiscard]] std::optional<frame_row> evaluate_whole_row(const checked_frame& frame, std::uint64_t code);

/// The same row as a `frame_rule`. Empty where the row has anything beside those plain rules (expressions, registers
/// kept in registers, undefined registers other than the return address), and for the frame of a signal.
[[nodiscard]] std::optional<frame_rule> evaluate_row(const checked_frame& frame, std::uint64_t code);

}  // namespace mpiacq::unwinding
