// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// How the caller of a frame is found: one row of the table that call frame information stands for (DWARF 5, 6.4.1),
/// where that is of the plain kind which nearly all are. The caller's stack pointer is the CFA, as everywhere here.
struct frame_rule {
  std::uint8_t cfa_register = 0;  ///< the CFA is what this register holds, and `cfa_offset`
  std::int32_t cfa_offset = 0;
  bool outermost = false;  ///< the return address is undefined: nobody has called this frame
  std::uint64_t saved =
      0;  ///< a bit for each register that is in memory at the CFA and its offset; the others are kept
  std::array<std::int32_t, thread_registers::most> offsets{};

  friend bool operator==(const frame_rule&, const frame_rule&) = default;
};

}  // namespace mpiacq::unwinding
