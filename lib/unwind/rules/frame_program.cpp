// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rules/frame_program.hpp"

#include "rules/call_frame_codes.hpp"
#include "rules/call_frame_reader.hpp"
#include "rules/expression_codes.hpp"
#include "rules/frame_records.hpp"

namespace mpiacq::unwinding {

namespace {

/// libunwind allocates a set of rules for each DW_CFA_remember_state.
constexpr std::size_t most_remembered = 64;

/// Skips one operation. False: the operation is unknown or not permitted.
bool take_operation(record_reader& reader, std::size_t word_size) {
  const std::uint8_t code = reader.byte();
  if (code == op_addr) return reader.skip(word_size), true;
  if (code >= op_const1u && code <= op_const8s) return reader.skip(std::uint64_t{1} << ((code - op_const1u) / 2)), true;
  if (code == op_constu || code == op_plus_uconst || code == op_regx) return (void)reader.uleb(), true;
  if (code == op_consts || (code >= op_breg0 && code <= op_breg31)) return (void)reader.sleb(), true;
  if (code == op_bregx) return (void)reader.uleb(), (void)reader.sleb(), true;
  if (code == op_pick || code == op_deref_size) return (void)reader.byte(), true;
  return code == op_deref || (code >= op_dup && code <= op_rot) || code == op_abs || code == op_and ||
         (code >= op_minus && code <= op_plus) || (code >= op_shl && code <= op_xor) ||
         (code >= op_eq && code <= op_ne) || (code >= op_lit0 && code <= op_reg31) || code == op_nop;
}

bool take_expression(record_reader& program, std::size_t word_size) {
  const std::uint64_t size = program.uleb();
  if (!program.good() || size == 0 || size > program.rest().size()) return false;
  record_reader expression{program.rest().first(static_cast<std::size_t>(size))};
  while (!expression.at_end()) {
    if (!take_operation(expression, word_size)) return false;
  }
  program.skip(size);
  return expression.good();
}

}  // namespace

bool program_check::accepts(std::span<const std::byte> program) {
  record_reader reader{program};
  while (!reader.at_end()) {
    const std::uint8_t code = reader.byte();
    const bool advances = (code & cfa_with_operand) == cfa_advance_loc || code == cfa_set_loc ||
                          (code >= cfa_advance_loc1 && code <= cfa_advance_loc4);
    if ((advances || code == cfa_remember_state) && !defines_cfa_) return false;
    if ((code & cfa_with_operand) != 0) {
      if ((code & cfa_with_operand) == cfa_offset) (void)reader.uleb();
      continue;
    }
    if (code == cfa_def_cfa || code == cfa_def_cfa_sf || code == cfa_def_cfa_expression) defines_cfa_ = true;
    switch (code) {
      case cfa_nop:
      case cfa_negate_ra_state:
        break;
      case cfa_set_loc:
        reader.skip(encoded_size(pointers_, machine_.word_size));
        break;
      case cfa_advance_loc1:
        reader.skip(1);
        break;
      case cfa_advance_loc2:
        reader.skip(2);
        break;
      case cfa_advance_loc4:
        reader.skip(4);
        break;
      case cfa_remember_state:
        if (++remembered_ > most_remembered) return false;
        break;
      case cfa_restore_state:
        if (remembered_ == 0) return false;
        --remembered_;
        break;
      // One number. A signed number has as many bytes as an unsigned one.
      case cfa_restore_extended:
      case cfa_undefined:
      case cfa_same_value:
      case cfa_def_cfa_register:
      case cfa_def_cfa_offset:
      case cfa_def_cfa_offset_sf:
      case cfa_gnu_args_size:
        (void)reader.uleb();
        break;
      case cfa_register:
        (void)reader.uleb();
        // libunwind uses this operand as an index, too.
        if (reader.uleb() >= machine_.register_count) return false;
        break;
      case cfa_offset_extended:
      case cfa_def_cfa:
      case cfa_offset_extended_sf:
      case cfa_def_cfa_sf:
      case cfa_gnu_negative_offset_extended:
        (void)reader.uleb();
        (void)reader.uleb();
        break;
      case cfa_expression:
      case cfa_val_expression:
        (void)reader.uleb();
        if (!take_expression(reader, machine_.word_size)) return false;
        break;
      case cfa_def_cfa_expression:
        if (!take_expression(reader, machine_.word_size)) return false;
        break;
      default:
        // Also DW_CFA_val_offset: libunwind does not know it, and would run its operands as instructions.
        return false;
    }
  }
  return reader.good();
}

}  // namespace mpiacq::unwinding
