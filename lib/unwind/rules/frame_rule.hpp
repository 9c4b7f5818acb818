// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// How to find the caller of a frame: one row of the table that call frame information describes (DWARF 5, 6.4.1), if
/// its rules are plain, as nearly all are. The caller's stack pointer is always the CFA.
struct frame_rule {
  std::uint8_t cfa_register = 0;  ///< the CFA is the value of this register plus `cfa_offset`
  std::int32_t cfa_offset = 0;
  bool outermost = false;  ///< the return address is undefined: this frame has no caller
  /// A bit for each register that is saved in memory at the CFA plus its offset; the other registers are unchanged.
  std::uint64_t saved = 0;
  std::array<std::int32_t, thread_registers::most> offsets{};

  friend bool operator==(const frame_rule&, const frame_rule&) = default;
};

}  // namespace mpiacq::unwinding
