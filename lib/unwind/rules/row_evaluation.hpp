// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "rules/frame_records.hpp"
#include "rules/frame_row.hpp"
#include "rules/frame_rule.hpp"

namespace mpiacq::unwinding {

/// Runs the programs of a frame's records up to the instruction `code` bytes behind the first address of the FDE, and
/// returns the row for this instruction. Empty if a program is inconsistent, or contains DW_CFA_set_loc, which no
/// compiler writes. The row refers to the bytes of `frame`.
[[nodiscard]] std::optional<frame_row> evaluate_whole_row(const checked_frame& frame, std::uint64_t code);

/// The same row as a `frame_rule`. Empty if the row has rules that are not plain (expressions, registers kept in
/// registers, undefined registers other than the return address), and for the frame of a signal.
[[nodiscard]] std::optional<frame_rule> evaluate_row(const checked_frame& frame, std::uint64_t code);

}  // namespace mpiacq::unwinding
