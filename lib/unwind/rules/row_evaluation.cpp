// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rules/row_evaluation.hpp"

#include <limits>
#include <vector>

#include "rules/call_frame_codes.hpp"
#include "rules/call_frame_reader.hpp"

namespace mpiacq::unwinding {

namespace {

using kind = register_rule::kind;

class row_program {
 public:
  row_program(const common_information& common, std::uint64_t wanted) : common_(common), wanted_(wanted) {}

  /// The initial rules of every function.
  bool run_common() { return run(common_.program, false); }
  bool run_own(std::span<const std::byte> program) {
    initial_ = now_;
    return run(program, true);
  }
  [[nodiscard]] frame_row reached() const {
    frame_row row = now_;
    row.leaves_out_registers = leaves_out_registers_;
    return row;
  }

 private:
  bool run(std::span<const std::byte> program, bool own) {
    record_reader reader{program};
    // A row is valid up to the beginning of the next row.
    while (!reader.at_end() && code_ <= wanted_) {
      if (!take(reader, own)) return false;
    }
    return reader.good();
  }

  /// Runs one instruction. False: the instruction is unknown or not supported.
  bool take(record_reader& reader, bool own) {
    const std::uint8_t code = reader.byte();
    const std::uint8_t operand = code & cfa_operand;
    switch (code & cfa_with_operand) {
      case cfa_advance_loc:
        return own && advance(operand);
      case cfa_offset:
        return save(operand, reader.uleb() * data_alignment());
      case cfa_restore:
        return own && restore(operand);
      default:
        return take_whole(code, reader, own);
    }
  }

  bool take_whole(std::uint8_t code, record_reader& reader, bool own) {
    switch (code) {
      case cfa_nop:
        return true;
      case cfa_gnu_args_size:
        return (void)reader.uleb(), true;
      case cfa_advance_loc1:
        return own && advance(reader.fixed(1));
      case cfa_advance_loc2:
        return own && advance(reader.fixed(2));
      case cfa_advance_loc4:
        return own && advance(reader.fixed(4));
      case cfa_remember_state:
        return own && (remembered_.push_back(now_), true);
      case cfa_restore_state:
        return own && restore_all();
      case cfa_restore_extended:
        return own && restore(reader.uleb());
      default:
        return take_cfa(code, reader) || take_register(code, reader);
    }
  }

  bool take_cfa(std::uint8_t code, record_reader& reader) {
    std::uint64_t number = now_.cfa.number;
    std::uint64_t offset = now_.cfa.offset;
    const bool is_whole = code == cfa_def_cfa || code == cfa_def_cfa_sf;
    if (is_whole || code == cfa_def_cfa_register) number = reader.uleb();
    switch (code) {
      case cfa_def_cfa_expression:
        now_.cfa = {kind::value_expression, 0, 0, take_block(reader)};
        return true;
      case cfa_def_cfa:
      case cfa_def_cfa_offset:
        offset = reader.uleb();
        break;
      case cfa_def_cfa_sf:
      case cfa_def_cfa_offset_sf:
        offset = static_cast<std::uint64_t>(reader.sleb()) * data_alignment();
        break;
      case cfa_def_cfa_register:
        break;
      default:
        return false;
    }
    // An instruction that sets only the register or only the offset needs a CFA that has both.
    if (!is_whole && now_.cfa.how != kind::in_register) return false;
    if (number >= machine_.register_count) return false;
    now_.cfa = {kind::in_register, static_cast<std::uint8_t>(number), offset, {}};
    return true;
  }

  bool take_register(std::uint8_t code, record_reader& reader) {
    const bool known = code == cfa_offset_extended || code == cfa_offset_extended_sf || code == cfa_undefined ||
                       code == cfa_same_value || code == cfa_register || code == cfa_expression ||
                       code == cfa_val_expression;
    if (!known) return false;
    const std::uint64_t number = reader.uleb();
    switch (code) {
      case cfa_offset_extended:
        return save(number, reader.uleb() * data_alignment());
      case cfa_offset_extended_sf:
        return save(number, static_cast<std::uint64_t>(reader.sleb()) * data_alignment());
      case cfa_undefined:
        return put(number, {kind::undefined, 0, 0, {}});
      case cfa_same_value:
        return put(number, {kind::same, 0, 0, {}});
      case cfa_register: {
        const std::uint64_t holder = reader.uleb();
        if (holder >= machine_.register_count) return false;
        return put(number, {kind::in_register, static_cast<std::uint8_t>(holder), 0, {}});
      }
      case cfa_expression:
        return put(number, {kind::expression, 0, 0, take_block(reader)});
      default:
        return put(number, {kind::value_expression, 0, 0, take_block(reader)});
    }
  }

  static std::span<const std::byte> take_block(record_reader& reader) { return reader.take(reader.uleb()); }

  /// Rules of registers that the walk does not follow (x87, SSE) do not affect the walk.
  bool put(std::uint64_t number, const register_rule& how) {
    if (number < machine_.register_count) {
      now_.registers[static_cast<std::size_t>(number)] = how;
    } else {
      leaves_out_registers_ = true;
    }
    return true;
  }
  bool save(std::uint64_t number, std::uint64_t offset) { return put(number, {kind::saved, 0, offset, {}}); }
  bool restore(std::uint64_t number) {
    return put(number, number < machine_.register_count ? initial_.registers[static_cast<std::size_t>(number)]
                                                        : register_rule{});
  }
  bool restore_all() {
    if (remembered_.empty()) return false;
    now_ = remembered_.back();
    remembered_.pop_back();
    return true;
  }
  bool advance(std::uint64_t units) {
    const std::uint64_t before = code_;
    code_ += units * common_.code_alignment;
    return code_ >= before;
  }
  [[nodiscard]] std::uint64_t data_alignment() const { return static_cast<std::uint64_t>(common_.data_alignment); }

  const common_information& common_;
  const architecture& machine_ = *common_.machine;
  std::uint64_t wanted_;
  std::uint64_t code_ = 0;  ///< where the current row begins
  frame_row initial_{};
  frame_row now_{};
  /// Stays set after the rule is removed, because libunwind refuses such a program
  bool leaves_out_registers_ = false;
  std::vector<frame_row> remembered_;  ///< bounded by program_check
};

std::optional<std::int32_t> small(std::uint64_t offset) {
  const auto value = static_cast<std::int64_t>(offset);
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(value);
}

/// The row as a frame_rule; empty if it has other rules.
std::optional<frame_rule> as_rule(const frame_row& from, const architecture& machine) {
  const auto offset = small(from.cfa.offset);
  if (from.cfa.how != kind::in_register || !offset || from.cfa.number == machine.pc_number) return std::nullopt;
  if (from.leaves_out_registers) return std::nullopt;
  frame_rule made;
  made.cfa_register = from.cfa.number;
  made.cfa_offset = *offset;
  for (std::size_t i = 0; i < machine.register_count; ++i) {
    const register_rule& one = from.registers[i];
    if (one.how == kind::same) continue;
    if (one.how == kind::undefined && i == machine.pc_number) {
      made.outermost = true;
      continue;
    }
    const auto where = small(one.offset);
    if (one.how != kind::saved || !where || i == machine.sp_number) return std::nullopt;
    made.saved |= std::uint64_t{1} << i;
    made.offsets[i] = *where;
  }
  const bool has_caller = (made.saved >> machine.pc_number & 1) != 0;
  return has_caller || made.outermost ? std::optional(made) : std::nullopt;
}

}  // namespace

std::optional<frame_row> evaluate_whole_row(const checked_frame& frame, std::uint64_t code) {
  if (frame.common.return_address != frame.common.machine->pc_number) return std::nullopt;
  row_program program{frame.common, code};
  if (!program.run_common() || !program.run_own(frame.program)) return std::nullopt;
  return program.reached();
}

std::optional<frame_rule> evaluate_row(const checked_frame& frame, std::uint64_t code) {
  const architecture& machine = *frame.common.machine;
  if (!machine.has_plain_rows || frame.covers.signal_frame) return std::nullopt;
  const auto row = evaluate_whole_row(frame, code);
  return row ? as_rule(*row, machine) : std::nullopt;
}

}  // namespace mpiacq::unwinding
