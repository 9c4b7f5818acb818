// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// How to find one register of the caller, or the CFA (DWARF 5, 6.4.1).
struct register_rule {
  enum class kind : std::uint8_t {
    same,              ///< unchanged; of the CFA: not defined
    undefined,         ///< lost
    saved,             ///< in memory at the CFA plus `offset`
    in_register,       ///< the value of register `number` plus `offset`
    expression,        ///< in memory at the result of `expression`
    value_expression,  ///< the result of `expression`
  };
  kind how = kind::same;
  std::uint8_t number = 0;
  std::uint64_t offset = 0;                 ///< modulo 2^64, like addresses
  std::span<const std::byte> expression{};  ///< refers to the record's bytes
};

/// One row of the table that call frame information describes, with rules of every kind. Rules of registers that the
/// walk does not follow are left out.
struct frame_row {
  register_rule cfa{};
  std::array<register_rule, thread_registers::most> registers{};
  bool leaves_out_registers = false;  ///< the program names a register that the walk does not follow
};

}  // namespace mpiacq::unwinding
