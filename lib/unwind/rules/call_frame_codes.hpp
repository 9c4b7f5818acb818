// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpiacq::unwinding {

// DW_CFA_*, DWARF 5, 7.24. The first three have an operand in their lower six bits.
inline constexpr std::uint8_t cfa_with_operand = 0xc0;
inline constexpr std::uint8_t cfa_operand = 0x3f;
inline constexpr std::uint8_t cfa_advance_loc = 0x40;
inline constexpr std::uint8_t cfa_offset = 0x80;
inline constexpr std::uint8_t cfa_restore = 0xc0;
enum cfa : std::uint8_t {
  cfa_nop = 0x00,
  cfa_set_loc = 0x01,
  cfa_advance_loc1 = 0x02,
  cfa_advance_loc2 = 0x03,
  cfa_advance_loc4 = 0x04,
  cfa_offset_extended = 0x05,
  cfa_restore_extended = 0x06,
  cfa_undefined = 0x07,
  cfa_same_value = 0x08,
  cfa_register = 0x09,
  cfa_remember_state = 0x0a,
  cfa_restore_state = 0x0b,
  cfa_def_cfa = 0x0c,
  cfa_def_cfa_register = 0x0d,
  cfa_def_cfa_offset = 0x0e,
  cfa_def_cfa_expression = 0x0f,
  cfa_expression = 0x10,
  cfa_offset_extended_sf = 0x11,
  cfa_def_cfa_sf = 0x12,
  cfa_def_cfa_offset_sf = 0x13,
  cfa_val_expression = 0x16,
  cfa_negate_ra_state = 0x2d,  // aarch64
  cfa_gnu_args_size = 0x2e,
  cfa_gnu_negative_offset_extended = 0x2f,
};

}  // namespace mpiacq::unwinding
