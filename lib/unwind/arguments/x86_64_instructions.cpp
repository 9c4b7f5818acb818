// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "arguments/instruction_set.hpp"

namespace mpiacq::unwinding::arch {

namespace {

constexpr std::uint8_t rax = 0;
constexpr std::uint8_t rcx = 2;
constexpr std::uint8_t rbp = 6;
constexpr std::uint8_t rsp = 7;
constexpr std::array<std::uint8_t, 6> argument_registers = {5, 4, 1, 2, 8, 9};  // rdi, rsi, rdx, rcx, r8, r9
constexpr std::array<std::uint8_t, 7> kept_registers = {3, rbp, rsp, 12, 13, 14, 15};

/// A general register or its lower part.
struct register_part {
  std::uint8_t number = 0;
  std::uint8_t bits = 0;
  bool is_second_byte = false;  ///< ah and its like
};

/// The names of each register, by DWARF number: 64, 32, 16 and 8 bits.
constexpr std::array<std::array<x86_reg, 4>, 16> names = {{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
}};
constexpr std::array<std::pair<x86_reg, std::uint8_t>, 4> second_bytes = {
    {{X86_REG_AH, 0}, {X86_REG_DH, 1}, {X86_REG_CH, 2}, {X86_REG_BH, 3}}};

std::optional<register_part> part_of(unsigned name) {
  for (std::size_t number = 0; number < names.size(); ++number) {
    for (std::size_t width = 0; width < 4; ++width) {
      if (names[number][width] == name)
        return register_part{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(64U >> width)};
    }
  }
  for (const auto& [second, number] : second_bytes) {
    if (second == name) return register_part{number, 8, true};
  }
  return std::nullopt;
}

const cs_x86_op& operand(const cs_insn& instruction, std::size_t index) {
  return instruction.detail->x86.operands[index];
}

std::size_t operand_count(const cs_insn& instruction) {
  return instruction.detail->x86.op_count;
}

/// The effect of one instruction.
class effect {
 public:
  effect(straight_trace& trace, csh decoder, const cs_insn& instruction)
      : trace_(trace), decoder_(decoder), instruction_(instruction), values_(trace.values()) {}

  void apply() {
    switch (instruction_.id) {
      case X86_INS_NOP:
      case X86_INS_ENDBR64:
      case X86_INS_CMP:
      case X86_INS_TEST:
        return;
      case X86_INS_MOV:
      case X86_INS_MOVABS:
      case X86_INS_MOVZX:
        return write(0, read(1));
      case X86_INS_MOVSX:
      case X86_INS_MOVSXD:
        return write(0, values_.sign_extended(read(1), 8U * operand(instruction_, 1).size));
      case X86_INS_CDQE:
        return trace_.set(rax, values_.sign_extended(trace_.get(rax), 32));
      case X86_INS_LEA:
        return write(0, address(operand(instruction_, 1).mem));
      case X86_INS_PUSH:
        return push();
      case X86_INS_POP:
        return pop();
      case X86_INS_LEAVE:
        return leave();
      default:
        return compute();
    }
  }

  [[nodiscard]] value_id read(std::size_t index) {
    const cs_x86_op& op = operand(instruction_, index);
    if (op.type == X86_OP_IMM) return values_.constant(static_cast<std::uint64_t>(op.imm));
    if (op.type == X86_OP_MEM) return trace_.load(address(op.mem), op.size);
    return op.type == X86_OP_REG ? read_register(op.reg) : unknown_value;
  }

 private:
  void compute() {
    const bool has_two = operand_count(instruction_) == 2;
    const bool of_itself = has_two && operand(instruction_, 0).type == X86_OP_REG &&
                           operand(instruction_, 1).type == X86_OP_REG &&
                           operand(instruction_, 0).reg == operand(instruction_, 1).reg;
    switch (instruction_.id) {
      case X86_INS_ADD:
        return write(0, values_.binary(value_kind::sum, read(0), read(1)));
      case X86_INS_SUB:
        return write(0, of_itself ? values_.constant(0) : values_.binary(value_kind::difference, read(0), read(1)));
      case X86_INS_XOR:
        return write(0,
                     of_itself ? values_.constant(0) : values_.binary(value_kind::bits_that_differ, read(0), read(1)));
      case X86_INS_AND:
        return write(0, values_.binary(value_kind::bits_of_both, read(0), read(1)));
      case X86_INS_OR:
        if (sets_all_bits()) return write(0, values_.constant(~std::uint64_t{0}));
        return write(0, values_.binary(value_kind::bits_of_either, read(0), read(1)));
      case X86_INS_INC:
        return write(0, values_.offset(read(0), 1));
      case X86_INS_DEC:
        return write(0, values_.offset(read(0), ~std::uint64_t{0}));
      case X86_INS_NEG:
        return write(0, values_.binary(value_kind::difference, values_.constant(0), read(0)));
      case X86_INS_SHL:
      case X86_INS_SAL:
      case X86_INS_SHR:
        if (shift()) return;
        break;
      case X86_INS_IMUL:
        if (operand_count(instruction_) == 1) break;
        return write(0, values_.binary(value_kind::product, read(has_two ? 0 : 1), read(has_two ? 1 : 2)));
      default:
        break;
    }
    lose();
  }

  /// Of `or` with -1.
  [[nodiscard]] bool sets_all_bits() const {
    const cs_x86_op& op = operand(instruction_, 1);
    const bool is_half = operand(instruction_, 0).size == 4;
    return op.type == X86_OP_IMM && (is_half ? static_cast<std::int32_t>(op.imm) == -1 : op.imm == -1);
  }

  [[nodiscard]] bool has_prefixes_of_repetition() const {
    return instruction_.detail->x86.prefix[0] == X86_PREFIX_REP ||
           instruction_.detail->x86.prefix[0] == X86_PREFIX_REPNE;
  }

  /// False: the count is not in the instruction.
  [[nodiscard]] bool shift() {
    if (operand_count(instruction_) != 2 || operand(instruction_, 1).type != X86_OP_IMM) return false;
    const unsigned width = operand(instruction_, 0).size;
    if (width != 4 && width != 8) return false;
    const std::uint64_t count = static_cast<std::uint64_t>(operand(instruction_, 1).imm) & (8U * width - 1);
    const bool left = instruction_.id != X86_INS_SHR;
    write(0, values_.shifted(left ? value_kind::shifted_left : value_kind::shifted_right, read(0), count));
    return true;
  }

  void push() {
    const cs_x86_op& op = operand(instruction_, 0);
    const bool is_short =
        op.type == X86_OP_IMM ? instruction_.detail->x86.prefix[2] == X86_PREFIX_OPSIZE : op.size != 8;
    if (is_short || !is_general(op)) return lose_everything();
    const value_id value = read(0);
    trace_.set(rsp, values_.offset(trace_.get(rsp), 0 - std::uint64_t{8}));
    trace_.store_value(trace_.get(rsp), 8, value);
  }

  void pop() {
    const cs_x86_op& op = operand(instruction_, 0);
    if (op.type != X86_OP_REG || op.size != 8 || !is_general(op)) return lose_everything();
    const value_id value = trace_.load(trace_.get(rsp), 8);
    trace_.set(rsp, values_.offset(trace_.get(rsp), 8));
    write(0, value);
  }

  void leave() {
    const value_id frame = trace_.get(rbp);
    trace_.set(rbp, trace_.load(frame, 8));
    trace_.set(rsp, values_.offset(frame, 8));
  }

  [[nodiscard]] static bool is_general(const cs_x86_op& op) {
    return op.type != X86_OP_REG || part_of(op.reg).has_value();
  }

  [[nodiscard]] value_id read_register(x86_reg name) {
    const auto part = part_of(name);
    if (!part) return unknown_value;
    const value_id whole = trace_.get(part->number);
    return part->is_second_byte ? values_.zero_extended(values_.shifted(value_kind::shifted_right, whole, 8), 8)
                                : values_.zero_extended(whole, part->bits);
  }

  /// The address of a memory operand; unknown if it depends on a segment or on 32 bits of a register.
  [[nodiscard]] value_id address(const x86_op_mem& mem) {
    if (mem.segment == X86_REG_FS || mem.segment == X86_REG_GS) return unknown_value;
    const auto number = static_cast<std::uint64_t>(mem.disp);
    value_id sum = unknown_value;
    if (mem.base == X86_REG_RIP) {
      sum = values_.code_address(instruction_.address + instruction_.size);
    } else {
      sum = mem.base == X86_REG_INVALID ? values_.constant(0) : address_register(mem.base);
    }
    if (mem.index != X86_REG_INVALID && mem.index != X86_REG_RIZ) {
      const auto scale = values_.constant(static_cast<std::uint64_t>(mem.scale));
      sum =
          values_.binary(value_kind::sum, sum, values_.binary(value_kind::product, address_register(mem.index), scale));
    }
    return instruction_.detail->x86.addr_size == 8 ? values_.offset(sum, number) : unknown_value;
  }

  [[nodiscard]] value_id address_register(x86_reg name) {
    const auto part = part_of(name);
    return part && part->bits == 64 ? trace_.get(part->number) : unknown_value;
  }

  void write(std::size_t index, value_id value) {
    const cs_x86_op& op = operand(instruction_, index);
    if (op.type == X86_OP_MEM) return trace_.store_value(address(op.mem), op.size, value);
    const auto part = op.type == X86_OP_REG ? part_of(op.reg) : std::nullopt;
    if (!part) return;
    if (part->bits < 32) return trace_.forget(part->number);
    trace_.set(part->number, values_.zero_extended(value, part->bits));
  }

  /// An instruction without a rule: what it may write is unknown. Capstone's statement which operands are written is
  /// not reliable, so all registers count, and memory that is the first operand.
  void lose() {
    for (const std::uint16_t name : written_registers(decoder_, instruction_)) lose_register(name);
    for (std::size_t i = 0; i < operand_count(instruction_); ++i) {
      const cs_x86_op& op = operand(instruction_, i);
      if (op.type == X86_OP_REG) lose_register(op.reg);
      const bool is_written = i == 0 || instruction_.id == X86_INS_XCHG || instruction_.id == X86_INS_XADD;
      if (op.type == X86_OP_MEM && is_written) store_of(op);
    }
    lose_implicit();
  }

  void lose_register(unsigned name) {
    if (const auto part = part_of(name)) trace_.forget(part->number);
  }

  void store_of(const cs_x86_op& op) {
    is_plain_store() ? trace_.store_value(address(op.mem), op.size, unknown_value) : trace_.store_anywhere();
  }

  /// The instruction stores one operand of a stated size.
  [[nodiscard]] bool is_plain_store() const {
    switch (instruction_.id) {
      case X86_INS_MOVAPS:
      case X86_INS_MOVAPD:
      case X86_INS_MOVUPS:
      case X86_INS_MOVUPD:
      case X86_INS_MOVDQA:
      case X86_INS_MOVDQU:
      case X86_INS_MOVSS:
      case X86_INS_MOVQ:
      case X86_INS_MOVD:
      case X86_INS_MOVLPS:
      case X86_INS_MOVHPS:
      case X86_INS_MOVLPD:
      case X86_INS_MOVHPD:
      case X86_INS_VMOVAPS:
      case X86_INS_VMOVAPD:
      case X86_INS_VMOVUPS:
      case X86_INS_VMOVUPD:
      case X86_INS_VMOVDQA:
      case X86_INS_VMOVDQU:
      case X86_INS_VMOVSS:
      case X86_INS_VMOVSD:
      case X86_INS_VMOVQ:
      case X86_INS_VMOVD:
        return true;
      case X86_INS_MOVSD:  // the instruction for strings has the same number
        return operand(instruction_, 1).type == X86_OP_REG;
      default:
        return false;
    }
  }

  /// Registers and memory that Capstone may not name.
  void lose_implicit() {
    switch (instruction_.id) {
      case X86_INS_LOOP:
      case X86_INS_LOOPE:
      case X86_INS_LOOPNE:
        return trace_.forget(rcx);
      case X86_INS_MASKMOVDQU:
      case X86_INS_MASKMOVQ:
      case X86_INS_VMASKMOVDQU:
        return trace_.store_anywhere();
      case X86_INS_ENTER:
      case X86_INS_PUSHF:
      case X86_INS_PUSHFD:
      case X86_INS_PUSHFQ:
      case X86_INS_POPF:
      case X86_INS_POPFD:
      case X86_INS_POPFQ:
        return lose_everything();
      default:
        break;
    }
    if (has_prefixes_of_repetition()) trace_.store_anywhere();
  }

  void lose_everything() {
    for (std::size_t i = 0; i < names.size(); ++i) trace_.forget(i);
    trace_.store_anywhere();
  }

  straight_trace& trace_;
  csh decoder_;
  const cs_insn& instruction_;
  value_graph& values_;
};

instruction_flow flow(const cs_insn& instruction) {
  using kind = instruction_flow::kind;
  const cs_detail& detail = *instruction.detail;
  const bool has_target = detail.x86.op_count == 1 && detail.x86.operands[0].type == X86_OP_IMM;
  const auto target = has_target ? static_cast<std::uint64_t>(detail.x86.operands[0].imm) : 0;
  switch (instruction.id) {
    case X86_INS_CALL:
    case X86_INS_LCALL:
      return {kind::call};
    case X86_INS_JMP:
    case X86_INS_LJMP: {
      if (has_target) return {kind::jump, target};
      // A jump through one fixed pointer leaves the function: it is a call in the place of the last return.
      const cs_x86_op& op = detail.x86.operands[0];
      const bool is_fixed = op.type == X86_OP_MEM && op.mem.base == X86_REG_RIP && op.mem.index == X86_REG_INVALID;
      return {is_fixed ? kind::leave : kind::unknown_jump};
    }
    case X86_INS_INT3:
      // A debugger's breakpoint has replaced the beginning of an instruction, so the bytes behind it mislead.
      return {kind::unknown_jump};
    case X86_INS_HLT:
    case X86_INS_UD0:
    case X86_INS_UD2:
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_XBEGIN:
    case X86_INS_XABORT:
      return {kind::stop};
    default:
      break;
  }
  for (std::size_t i = 0; i < detail.groups_count; ++i) {
    const auto group = detail.groups[i];
    if (group == X86_GRP_RET) return {kind::leave};
    if (group == X86_GRP_IRET || group == X86_GRP_INT) return {kind::stop};
    if (group == X86_GRP_CALL) return {kind::call};
    if (group == X86_GRP_JUMP)
      return has_target ? instruction_flow{kind::conditional_jump, target} : instruction_flow{kind::unknown_jump};
  }
  const bool is_loop =
      instruction.id == X86_INS_LOOP || instruction.id == X86_INS_LOOPE || instruction.id == X86_INS_LOOPNE;
  return is_loop ? instruction_flow{kind::conditional_jump, target} : instruction_flow{};
}

void step(straight_trace& trace, csh decoder, const cs_insn& instruction) {
  effect{trace, decoder, instruction}.apply();
}

value_id call_target(straight_trace& trace, const cs_insn& instruction) {
  if (instruction.id != X86_INS_CALL || operand_count(instruction) != 1) return unknown_value;
  const cs_x86_op& op = operand(instruction, 0);
  if (op.type == X86_OP_IMM) return trace.values().code_address(static_cast<std::uint64_t>(op.imm));
  return op.size == 8 ? effect{trace, 0, instruction}.read(0) : unknown_value;
}

value_id jump_target(straight_trace& trace, const cs_insn& instruction) {
  const bool is_jump = instruction.id == X86_INS_JMP && operand_count(instruction) == 1;
  const bool is_whole = is_jump && operand(instruction, 0).type != X86_OP_IMM && operand(instruction, 0).size == 8;
  return is_whole ? effect{trace, 0, instruction}.read(0) : unknown_value;
}

bool keeps_flags(const cs_insn& instruction) {
  switch (instruction.id) {
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
    case X86_INS_CDQE:
    case X86_INS_LEA:
    case X86_INS_PUSH:
    case X86_INS_POP:
      return true;
    default: {
      const auto how = flow(instruction).how;
      return how == instruction_flow::kind::jump || how == instruction_flow::kind::conditional_jump;
    }
  }
}

comparison compare(straight_trace& trace, csh decoder, const cs_insn& instruction, const comparison& before) {
  const bool compares = instruction.id == X86_INS_CMP || instruction.id == X86_INS_SUB;
  if (!compares || operand_count(instruction) != 2 || operand(instruction, 1).type != X86_OP_IMM) {
    return keeps_flags(instruction) ? before : comparison{};
  }
  const std::size_t size = operand(instruction, 0).size;
  if (size != 1 && size != 2 && size != 4 && size != 8) return {};
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size);
  return {effect{trace, decoder, instruction}.read(0), static_cast<std::uint64_t>(operand(instruction, 1).imm) & mask};
}

std::optional<std::uint64_t> largest_behind(const cs_insn& jump, bool has_jumped, std::uint64_t constant) {
  if (jump.id == (has_jumped ? X86_INS_JBE : X86_INS_JA)) return constant;
  if (jump.id == (has_jumped ? X86_INS_JB : X86_INS_JAE) && constant > 0) return constant - 1;
  return std::nullopt;
}

bool has_byte(std::span<const std::byte> code, std::size_t index, unsigned value) {
  return index < code.size() && std::to_integer<unsigned>(code[index]) == value;
}

std::optional<jump_stub> stub(std::span<const std::byte> code, std::uint64_t at) {
  constexpr std::size_t distance_size = 4;
  std::size_t i = 0;
  if (has_byte(code, 0, 0xf3) && has_byte(code, 1, 0x0f) && has_byte(code, 2, 0x1e) && has_byte(code, 3, 0xfa)) i = 4;
  if (has_byte(code, i, 0xf2)) ++i;  // bnd
  const bool by_pointer = has_byte(code, i, 0xff) && has_byte(code, i + 1, 0x25);
  if (!by_pointer && !has_byte(code, i, 0xe9)) return std::nullopt;
  i += by_pointer ? 2 : 1;
  if (i + distance_size > code.size()) return std::nullopt;
  const auto distance = static_cast<std::uint64_t>(decode_signed(code.subspan(i, distance_size), byte_order::little));
  return jump_stub{at + i + distance_size + distance, by_pointer};
}

/// Every byte is taken for the beginning of a jump, so no jump is missed, wherever instructions begin. Jumps with a
/// distance of one byte do not count: an assembler makes them only within one piece of code.
void find_jumps(std::span<const std::byte> code, std::uint64_t at, std::uint64_t begin, std::uint64_t end,
                std::vector<found_jump>& jumps) {
  const auto byte = [&](std::size_t i) { return i < code.size() ? std::to_integer<unsigned>(code[i]) : 0U; };
  constexpr std::size_t size = 4;
  const auto check = [&](std::size_t first, std::size_t position) {
    if (position + size > code.size()) return;
    const auto distance = static_cast<std::uint64_t>(decode_signed(code.subspan(position, size), byte_order::little));
    const std::uint64_t target = at + position + size + distance;
    if (target >= begin && target < end) jumps.push_back({at + first, target});
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    const unsigned first = byte(i);
    if (first == 0xe9) check(i, i + 1);                                   // jmp
    if (first == 0x0f && (byte(i + 1) & 0xf0U) == 0x80) check(i, i + 2);  // jcc
  }
}

}  // namespace

const instruction_set& x86_64_instructions() {
  static const instruction_set set = {
      .arch = CS_ARCH_X86,
      .mode = CS_MODE_64,
      .alignment = 1,
      .convention = {argument_registers, kept_registers, rsp},
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
