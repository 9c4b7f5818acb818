// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpiacq::unwinding {

// DW_OP_*, DWARF 5, 7.7.1: the operations of expressions in call frame information and in descriptions of calls.
enum op : std::uint8_t {
  op_addr = 0x03,
  op_deref = 0x06,
  op_const1u = 0x08,
  op_const8s = 0x0f,
  op_constu = 0x10,
  op_consts = 0x11,
  op_dup = 0x12,
  op_drop = 0x13,
  op_over = 0x14,
  op_pick = 0x15,
  op_swap = 0x16,
  op_rot = 0x17,
  op_abs = 0x19,
  op_and = 0x1a,
  op_div = 0x1b,
  op_minus = 0x1c,
  op_mod = 0x1d,
  op_mul = 0x1e,
  op_neg = 0x1f,
  op_not = 0x20,
  op_or = 0x21,
  op_plus = 0x22,
  op_plus_uconst = 0x23,
  op_shl = 0x24,
  op_shr = 0x25,
  op_shra = 0x26,
  op_xor = 0x27,
  op_eq = 0x29,
  op_ge = 0x2a,
  op_gt = 0x2b,
  op_le = 0x2c,
  op_lt = 0x2d,
  op_ne = 0x2e,
  op_lit0 = 0x30,
  op_lit31 = 0x4f,
  op_reg0 = 0x50,
  op_reg31 = 0x6f,
  op_breg0 = 0x70,
  op_breg31 = 0x8f,
  op_regx = 0x90,
  op_fbreg = 0x91,
  op_bregx = 0x92,
  op_deref_size = 0x94,
  op_nop = 0x96,
  op_call_frame_cfa = 0x9c,
  op_stack_value = 0x9f,
  op_entry_value = 0xa3,
  op_gnu_entry_value = 0xf3,
};

}  // namespace mpiacq::unwinding
