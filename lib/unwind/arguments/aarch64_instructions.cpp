// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "arguments/instruction_set.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::uint8_t sp = 31;
constexpr std::uint8_t zero_register = 255;
constexpr std::array<std::uint8_t, 8> argument_registers = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr std::array<std::uint8_t, 12> kept_registers = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, sp};
/// The largest register of vectors that one operand names, in bytes.
constexpr std::size_t vector_size = 16;

/// A general register or its lower half.
struct register_half {
  std::uint8_t number = 0;
  std::uint8_t bits = 0;
};

std::optional<register_half> half_of(unsigned name) {
  if (name >= ARM64_REG_X0 && name <= ARM64_REG_X28) {
    return register_half{static_cast<std::uint8_t>(name - ARM64_REG_X0), 64};
  }
  if (name >= ARM64_REG_W0 && name <= ARM64_REG_W30) {
    return register_half{static_cast<std::uint8_t>(name - ARM64_REG_W0), 32};
  }
  switch (name) {
    case ARM64_REG_X29:
      return register_half{29, 64};
    case ARM64_REG_X30:
      return register_half{30, 64};
    case ARM64_REG_SP:
      return register_half{sp, 64};
    case ARM64_REG_WSP:
      return register_half{sp, 32};
    case ARM64_REG_XZR:
      return register_half{zero_register, 64};
    case ARM64_REG_WZR:
      return register_half{zero_register, 32};
    default:
      return std::nullopt;
  }
}

/// The effect of one instruction.
class effect {
 public:
  effect(straight_trace& trace, const cs_insn& instruction)
      : trace_(trace), instruction_(instruction), detail_(instruction.detail->arm64), values_(trace.values()) {}

  void apply() {
    switch (instruction_.id) {
      case ARM64_INS_NOP:
      case ARM64_INS_HINT:
      case ARM64_INS_CMP:
      case ARM64_INS_CMN:
      case ARM64_INS_TST:
      case ARM64_INS_B:
      case ARM64_INS_CBZ:
      case ARM64_INS_CBNZ:
      case ARM64_INS_TBZ:
      case ARM64_INS_TBNZ:
        return;
      case ARM64_INS_LDR:
      case ARM64_INS_LDUR:
        return load(0);
      case ARM64_INS_LDRB:
      case ARM64_INS_LDURB:
        return load(1);
      case ARM64_INS_LDRH:
      case ARM64_INS_LDURH:
        return load(2);
      case ARM64_INS_LDRSW:
      case ARM64_INS_LDURSW:
        return load(4, true);
      case ARM64_INS_LDP:
        return load_pair();
      case ARM64_INS_STR:
      case ARM64_INS_STUR:
        return store(0);
      case ARM64_INS_STRB:
      case ARM64_INS_STURB:
        return store(1);
      case ARM64_INS_STRH:
      case ARM64_INS_STURH:
        return store(2);
      case ARM64_INS_STP:
        return store_pair();
      default:
        return compute();
    }
  }

  using op_t = cs_arm64_op;

  /// An operand that is an immediate or a general register, with its extension and shift.
  [[nodiscard]] value_id read(std::size_t index) {
    const op_t& op = operand(index);
    if (op.type != ARM64_OP_IMM && op.type != ARM64_OP_REG) return unknown_value;
    value_id value =
        op.type == ARM64_OP_IMM ? values_.constant(static_cast<std::uint64_t>(op.imm)) : read_register(op.reg);
    value = extended(value, op.ext);
    if (op.shift.type == ARM64_SFT_INVALID) return value;
    if (op.shift.type == ARM64_SFT_LSL) return values_.shifted(value_kind::shifted_left, value, op.shift.value);
    if (op.shift.type == ARM64_SFT_LSR) return values_.shifted(value_kind::shifted_right, value, op.shift.value);
    return unknown_value;
  }

 private:
  [[nodiscard]] const op_t& operand(std::size_t index) const { return detail_.operands[index]; }
  [[nodiscard]] bool is_register(std::size_t index) const {
    return index < detail_.op_count && operand(index).type == ARM64_OP_REG;
  }

  void compute() {
    switch (instruction_.id) {
      case ARM64_INS_MOV:
      case ARM64_INS_MOVZ:
        if (detail_.op_count == 2) return write(0, read(1));
        break;
      case ARM64_INS_MOVN:
        if (detail_.op_count == 2) {
          return write(0, values_.binary(value_kind::bits_that_differ, read(1), values_.constant(~std::uint64_t{0})));
        }
        break;
      case ARM64_INS_MOVK:
        return move_keep();
      case ARM64_INS_ADR:
      case ARM64_INS_ADRP:
        return write(0, values_.code_address(static_cast<std::uint64_t>(operand(1).imm)));
      case ARM64_INS_ADD:
        return combine(value_kind::sum);
      case ARM64_INS_SUB:
        return combine(value_kind::difference);
      case ARM64_INS_AND:
        return combine(value_kind::bits_of_both);
      case ARM64_INS_ORR:
        return combine(value_kind::bits_of_either);
      case ARM64_INS_EOR:
        return combine(value_kind::bits_that_differ);
      case ARM64_INS_MUL:
        return combine(value_kind::product);
      case ARM64_INS_SXTW:
        if (detail_.op_count == 2) return write(0, values_.sign_extended(read(1), 32));
        break;
      default:
        break;
    }
    lose();
  }

  void combine(value_kind kind) {
    const bool is_plain = detail_.op_count == 3 && is_register(0) && half_of(operand(0).reg) && is_register(1);
    is_plain ? write(0, values_.binary(kind, read(1), read(2))) : lose();
  }

  void move_keep() {
    const op_t& piece = operand(1);
    const auto destination = is_register(0) ? half_of(operand(0).reg) : std::nullopt;
    const bool is_plain = destination && piece.type == ARM64_OP_IMM && piece.shift.value < 64;
    if (!is_plain) return lose();
    const unsigned shift = piece.shift.type == ARM64_SFT_LSL ? piece.shift.value : 0;
    const auto mask = values_.constant(~(std::uint64_t{0xffff} << shift));
    const auto number = values_.constant((static_cast<std::uint64_t>(piece.imm) & 0xffffU) << shift);
    write(0,
          values_.binary(value_kind::bits_of_either, values_.binary(value_kind::bits_of_both, read(0), mask), number));
  }

  [[nodiscard]] value_id extended(value_id value, arm64_extender how) {
    switch (how) {
      case ARM64_EXT_INVALID:
      case ARM64_EXT_UXTX:
      case ARM64_EXT_SXTX:
        return value;
      case ARM64_EXT_UXTB:
        return values_.zero_extended(value, 8);
      case ARM64_EXT_UXTH:
        return values_.zero_extended(value, 16);
      case ARM64_EXT_UXTW:
        return values_.zero_extended(value, 32);
      case ARM64_EXT_SXTB:
        return values_.sign_extended(value, 8);
      case ARM64_EXT_SXTH:
        return values_.sign_extended(value, 16);
      case ARM64_EXT_SXTW:
        return values_.sign_extended(value, 32);
      default:
        return unknown_value;
    }
  }

  [[nodiscard]] value_id read_register(unsigned name) {
    const auto half = half_of(name);
    if (!half) return unknown_value;
    if (half->number == zero_register) return values_.constant(0);
    return values_.zero_extended(trace_.get(half->number), half->bits);
  }

  void write(std::size_t index, value_id value) {
    const auto half = is_register(index) ? half_of(operand(index).reg) : std::nullopt;
    if (half && half->number != zero_register) trace_.set(half->number, values_.zero_extended(value, half->bits));
  }

  /// The memory operand of a load or store, and the register that it changes.
  struct place {
    value_id address = unknown_value;
    std::optional<std::uint8_t> changed{};
    value_id changed_to = unknown_value;
  };

  [[nodiscard]] place place_at(std::size_t index) {
    const op_t& op = operand(index);
    if (op.type == ARM64_OP_IMM) return {values_.code_address(static_cast<std::uint64_t>(op.imm))};  // a literal
    if (op.type != ARM64_OP_MEM) return {};
    const value_id base = read_register(op.mem.base);
    const auto number = static_cast<std::uint64_t>(std::int64_t{op.mem.disp});
    place found{values_.offset(base, number)};
    if (op.mem.index != ARM64_REG_INVALID) {
      value_id counted = extended(read_register(op.mem.index), op.ext);
      if (op.shift.type == ARM64_SFT_LSL) {
        counted = values_.shifted(value_kind::shifted_left, counted, op.shift.value);
      } else if (op.shift.type != ARM64_SFT_INVALID) {
        counted = unknown_value;
      }
      found.address = values_.binary(value_kind::sum, base, counted);
    }
    if (!detail_.writeback) return found;
    if (const auto half = half_of(op.mem.base)) found.changed = half->number;
    found.changed_to = found.address;
    if (index + 1 < detail_.op_count) {  // the number is added after the access
      const op_t& after = operand(index + 1);
      found.address = base;
      found.changed_to =
          after.type == ARM64_OP_IMM ? values_.offset(base, static_cast<std::uint64_t>(after.imm)) : unknown_value;
    }
    return found;
  }

  void change(const place& where) {
    if (where.changed) trace_.set(*where.changed, where.changed_to);
  }

  /// `bytes` 0: as many as the register has.
  void load(std::size_t bytes, bool is_signed = false) {
    if (detail_.op_count < 2) return lose();
    const place where = place_at(1);
    if (const auto half = half_of(operand(0).reg)) {
      const std::size_t size = bytes == 0 ? half->bits / 8U : bytes;
      const value_id value = trace_.load(where.address, size);
      write(0, is_signed ? values_.sign_extended(value, static_cast<unsigned>(8 * size)) : value);
    }
    change(where);
  }

  void load_pair() {
    if (detail_.op_count < 3) return lose();
    const place where = place_at(2);
    const auto first = half_of(operand(0).reg);
    const auto second = half_of(operand(1).reg);
    if (first && second) {
      const std::size_t size = first->bits / 8U;
      const value_id low = trace_.load(where.address, size);
      const value_id high = trace_.load(values_.offset(where.address, size), size);
      write(0, low);
      write(1, high);
    }
    change(where);
  }

  void store(std::size_t bytes) {
    if (detail_.op_count < 2) return lose();
    const place where = place_at(1);
    store_register(0, where.address, bytes);
    change(where);
  }

  void store_pair() {
    if (detail_.op_count < 3) return lose();
    const place where = place_at(2);
    const auto half = half_of(operand(0).reg);
    if (half) {
      store_register(0, where.address, 0);
      store_register(1, values_.offset(where.address, half->bits / 8U), 0);
    } else {
      trace_.store_value(where.address, 2 * vector_size, unknown_value);
    }
    change(where);
  }

  void store_register(std::size_t index, value_id address, std::size_t bytes) {
    const auto half = half_of(operand(index).reg);
    if (!half) return trace_.store_value(address, vector_size, unknown_value);
    trace_.store_value(address, bytes == 0 ? half->bits / 8U : bytes, read_register(operand(index).reg));
  }

  /// An instruction without a rule: all registers that it names become unknown, and memory if it names any.
  void lose() {
    for (std::size_t i = 0; i < detail_.op_count; ++i) {
      const op_t& op = operand(i);
      if (op.type == ARM64_OP_REG) lose_register(op.reg);
      if (op.type == ARM64_OP_MEM) {
        if (detail_.writeback) lose_register(op.mem.base);
        trace_.store_anywhere();
      }
      // System instructions and prefetches may name other things.
      if (op.type != ARM64_OP_REG && op.type != ARM64_OP_IMM && op.type != ARM64_OP_FP) trace_.store_anywhere();
    }
  }

  void lose_register(unsigned name) {
    const auto half = half_of(name);
    if (half && half->number != zero_register) trace_.forget(half->number);
  }

  straight_trace& trace_;
  const cs_insn& instruction_;
  const cs_arm64& detail_;
  value_graph& values_;
};

instruction_flow flow(const cs_insn& instruction) {
  using kind = instruction_flow::kind;
  const cs_arm64& detail = instruction.detail->arm64;
  // The target is the last operand.
  const std::uint8_t count = detail.op_count;
  const bool has_target = count > 0 && detail.operands[count - 1].type == ARM64_OP_IMM;
  const auto target = has_target ? static_cast<std::uint64_t>(detail.operands[count - 1].imm) : 0;
  switch (instruction.id) {
    case ARM64_INS_B: {
      const bool is_conditional = detail.cc != ARM64_CC_INVALID && detail.cc != ARM64_CC_AL && detail.cc != ARM64_CC_NV;
      return {is_conditional ? kind::conditional_jump : kind::jump, target};
    }
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
      return {kind::conditional_jump, target};
    case ARM64_INS_BL:
    case ARM64_INS_BLR:
      return {kind::call};
    case ARM64_INS_BR:
      return {kind::unknown_jump};
    case ARM64_INS_RET:
      return {kind::leave};
    case ARM64_INS_ERET:
    case ARM64_INS_DRPS:
    case ARM64_INS_SVC:
    case ARM64_INS_HVC:
    case ARM64_INS_SMC:
    case ARM64_INS_BRK:
    case ARM64_INS_HLT:
      return {kind::stop};
    default:
      return {};
  }
}

void step(straight_trace& trace, csh, const cs_insn& instruction) {
  effect{trace, instruction}.apply();
}

value_id call_target(straight_trace& trace, const cs_insn& instruction) {
  const cs_arm64& detail = instruction.detail->arm64;
  if (detail.op_count != 1) return unknown_value;
  const cs_arm64_op& op = detail.operands[0];
  if (op.type == ARM64_OP_IMM) return trace.values().code_address(static_cast<std::uint64_t>(op.imm));
  const auto half = op.type == ARM64_OP_REG ? half_of(op.reg) : std::nullopt;
  return half && half->bits == 64 && half->number <= 30 ? trace.get(half->number) : unknown_value;
}

value_id jump_target(straight_trace& trace, const cs_insn& instruction) {
  return instruction.id == ARM64_INS_BR ? call_target(trace, instruction) : unknown_value;
}

/// Of instructions that do not state that they change the flags.
bool keeps_flags(const cs_insn& instruction) {
  switch (instruction.id) {
    case ARM64_INS_NOP:
    case ARM64_INS_MOV:
    case ARM64_INS_MOVZ:
    case ARM64_INS_MOVN:
    case ARM64_INS_MOVK:
    case ARM64_INS_ADR:
    case ARM64_INS_ADRP:
    case ARM64_INS_ADD:
    case ARM64_INS_SUB:
    case ARM64_INS_UXTW:
    case ARM64_INS_SXTW:
    case ARM64_INS_LDR:
    case ARM64_INS_LDUR:
    case ARM64_INS_LDRB:
    case ARM64_INS_LDRH:
    case ARM64_INS_LDRSW:
    case ARM64_INS_LDP:
    case ARM64_INS_STR:
    case ARM64_INS_STUR:
    case ARM64_INS_STRB:
    case ARM64_INS_STRH:
    case ARM64_INS_STP:
      return true;
    default: {
      const auto how = flow(instruction).how;
      return how == instruction_flow::kind::jump || how == instruction_flow::kind::conditional_jump;
    }
  }
}

/// `cmp` of a register with a number, or `subs`, which has the result in front.
comparison compare(straight_trace& trace, csh, const cs_insn& instruction, const comparison& before) {
  const cs_arm64& detail = instruction.detail->arm64;
  const bool subtracts = instruction.id == ARM64_INS_SUB && detail.update_flags;
  const std::uint8_t first = subtracts ? 1 : 0;
  const bool compares = instruction.id == ARM64_INS_CMP || subtracts;
  if (!compares) return !detail.update_flags && keeps_flags(instruction) ? before : comparison{};
  if (detail.op_count != first + 2U) return {};
  const cs_arm64_op& left = detail.operands[first];
  const cs_arm64_op& right = detail.operands[first + 1];
  const bool is_plain = left.type == ARM64_OP_REG && half_of(left.reg) && right.type == ARM64_OP_IMM &&
                        right.imm >= 0 && right.shift.type == ARM64_SFT_INVALID && right.ext == ARM64_EXT_INVALID;
  if (!is_plain) return {};
  return {effect{trace, instruction}.read(first), static_cast<std::uint64_t>(right.imm)};
}

std::optional<std::uint64_t> largest_behind(const cs_insn& jump, bool has_jumped, std::uint64_t constant) {
  const arm64_cc condition = jump.id == ARM64_INS_B ? jump.detail->arm64.cc : ARM64_CC_INVALID;
  if (condition == (has_jumped ? ARM64_CC_LS : ARM64_CC_HI)) return constant;
  if (condition == (has_jumped ? ARM64_CC_LO : ARM64_CC_HS) && constant > 0) return constant - 1;
  return std::nullopt;
}

/// The distance of a jump: `bits` bits of the instruction from bit `from` on, in instructions.
std::uint64_t distance(std::uint32_t instruction, unsigned from, unsigned bits) {
  const auto shifted = static_cast<std::int32_t>(instruction << (32 - from - bits));
  return static_cast<std::uint64_t>(std::int64_t{shifted >> (32 - bits)} * 4);
}

std::optional<std::uint64_t> jump_distance(std::uint32_t instruction) {
  if ((instruction & 0xfc000000U) == 0x14000000U) return distance(instruction, 0, 26);  // b
  if ((instruction & 0xff000000U) == 0x54000000U) return distance(instruction, 5, 19);  // b.cond, bc.cond
  if ((instruction & 0x7e000000U) == 0x34000000U) return distance(instruction, 5, 19);  // cbz, cbnz
  if ((instruction & 0x7e000000U) == 0x36000000U) return distance(instruction, 5, 14);  // tbz, tbnz
  return std::nullopt;
}

std::optional<jump_stub> stub(std::span<const std::byte> code, std::uint64_t at) {
  const auto word = [&](std::size_t index) {
    const bool is_there = 4 * (index + 1) <= code.size();
    return is_there ? static_cast<std::uint32_t>(decode_unsigned(code.subspan(4 * index, 4), byte_order::little)) : 0U;
  };
  constexpr std::uint32_t landing_pad = 0xd503245f;  // bti c
  const std::size_t first = word(0) == landing_pad ? 1 : 0;
  const std::uint32_t page = word(first);
  if ((page & 0xfc000000U) == 0x14000000U) return jump_stub{at + 4 * first + distance(page, 0, 26)};  // b
  // adrp x16, page
  // ldr x17, [x16, #offset]
  // add x16, x16, #offset
  // br x17
  const std::uint32_t load = word(first + 1);
  const bool is_stub = (page & 0x9f00001fU) == 0x90000010U && (load & 0xffc003ffU) == 0xf9400211U &&
                       (word(first + 2) & 0xffc003ffU) == 0x91000210U && word(first + 3) == 0xd61f0220U;
  if (!is_stub) return std::nullopt;
  const std::uint64_t pages = distance(page, 5, 19) + (page >> 29U & 3U);
  const std::uint64_t in_page = std::uint64_t{load >> 10U & 0xfffU} * 8;
  return jump_stub{((at + 4 * first) & ~std::uint64_t{0xfff}) + pages * 0x1000 + in_page, true};
}

void find_jumps(std::span<const std::byte> code, std::uint64_t at, std::uint64_t begin, std::uint64_t end,
                std::vector<found_jump>& jumps) {
  for (std::size_t i = (4 - at % 4) % 4; i + 4 <= code.size(); i += 4) {
    const auto word = static_cast<std::uint32_t>(decode_unsigned(code.subspan(i, 4), byte_order::little));
    const auto away = jump_distance(word);
    const std::uint64_t target = at + i + away.value_or(0);
    if (away && target >= begin && target < end) jumps.push_back({at + i, target});
  }
}

}  // namespace

const instruction_set& aarch64_instructions() {
  static const instruction_set set = {
      .arch = CS_ARCH_ARM64,
      .mode = CS_MODE_LITTLE_ENDIAN,
      .alignment = 4,
      .convention = {argument_registers, kept_registers, sp},
      .flow = flow,
      .step = step,
      .call_target = call_target,
      .jump_target = jump_target,
      .compare = compare,
      .largest_behind = largest_behind,
      .stub = stub,
      .find_jumps = find_jumps,
  };
  return set;
}

}  // namespace mpiacq::unwinding::arch
