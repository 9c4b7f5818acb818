// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// How one register of the caller, or the CFA, is found (DWARF 5, 6.4.1).
struct register_rule {
  enum class kind : std::uint8_t {
    same,              ///< as it was; of the CFA: not defined
    undefined,         ///< lost
    saved,             ///< in memory at the CFA and `offset`
    in_register,       ///< what register `number` holds, and `offset`
    expression,        ///< in memory at what `expression` gives
    value_expression,  ///< what `expression` gives
  };
  kind how = kind::same;
  std::uint8_t number = 0;
  std::uint64_t offset = 0;                 ///< counted modulo 2^64, as addresses are
  std::span<const std::byte> expression{};  ///< refers to the record's bytes
};

/// One row of the table that call frame information stands for, with rules of every kind. A rule for a register that
/// the walk does not follow is left out.
struct frame_row {
  register_rule cfa{};
  std::array<register_rule, thread_registers::most> registers{};
  bool leaves_out_registers = false;  ///< the program names a register that the walk does not follow
};

}  // namespace mpiacq::unwinding
