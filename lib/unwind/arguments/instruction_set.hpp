// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <capstone/capstone.h>

#include "arguments/recipe_builder.hpp"
#include "arguments/straight_trace.hpp"

namespace mpiacq::unwinding {

/// Where control goes after an instruction.
struct instruction_flow {
  enum class kind : std::uint8_t {
    onward,            ///< to the next instruction, and nowhere else
    conditional_jump,  ///< to the next instruction or to `target`
    jump,              ///< to `target`
    unknown_jump,      ///< to an address that the instruction does not contain, or one that is not known at all
    call,              ///< to another function, perhaps back to the next instruction
    leave,             ///< out of the function for good
    stop               ///< into the kernel, or nowhere
  };
  kind how = kind::onward;
  std::uint64_t target = 0;
  /// Whether the next instruction continues a piece of straight code.
  [[nodiscard]] bool continues() const { return how == kind::onward || how == kind::conditional_jump; }
};

/// Code that only jumps on.
struct jump_stub {
  std::uint64_t address = 0;
  bool is_pointer = false;  ///< the target is not `address`, but the pointer that is there
};

/// A jump that code contains, or may contain.
struct found_jump {
  std::uint64_t from = 0;  ///< the address of its first byte
  std::uint64_t to = 0;
  friend bool operator==(const found_jump&, const found_jump&) = default;
};

/// A comparison of a value with a constant, whose result the processor's flags hold.
struct comparison {
  value_id value = unknown_value;  ///< unknown: the flags hold something else
  std::uint64_t constant = 0;
};

/// The instructions of one kind of code, as far as the arguments of calls need them. Addresses are offsets in a module.
struct instruction_set {
  cs_arch arch = CS_ARCH_ALL;
  cs_mode mode = CS_MODE_LITTLE_ENDIAN;
  std::size_t alignment = 1;  ///< each instruction begins at a multiple of this
  call_convention convention;

  instruction_flow (*flow)(const cs_insn& instruction) = nullptr;
  /// What an instruction that is no call does to registers and memory. Registers that an instruction without a rule may
  /// write become unknown.
  void (*step)(straight_trace& trace, csh decoder, const cs_insn& instruction) = nullptr;
  /// The address that a call instruction calls.
  value_id (*call_target)(straight_trace& trace, const cs_insn& instruction) = nullptr;
  /// The address that an `unknown_jump` leads to.
  value_id (*jump_target)(straight_trace& trace, const cs_insn& instruction) = nullptr;
  /// What the flags hold behind an instruction, if they held `before` in front of it. `trace` has the values in front
  /// of the instruction.
  comparison (*compare)(straight_trace& trace, csh decoder, const cs_insn& instruction,
                        const comparison& before) = nullptr;
  /// The largest number that a value can be, without a sign, if a conditional jump behind its comparison with
  /// `constant` has jumped, or has not. Empty: any number.
  std::optional<std::uint64_t> (*largest_behind)(const cs_insn& jump, bool has_jumped,
                                                 std::uint64_t constant) = nullptr;
  /// Whether the code at `at` jumps on at once, with all arguments as they are.
  std::optional<jump_stub> (*stub)(std::span<const std::byte> code, std::uint64_t at) = nullptr;
  /// Appends all jumps into [begin, end) that `code`, which is at `at`, may contain.
  void (*find_jumps)(std::span<const std::byte> code, std::uint64_t at, std::uint64_t begin, std::uint64_t end,
                     std::vector<found_jump>& jumps) = nullptr;
};

namespace arch {
[[nodiscard]] const instruction_set& x86_64_instructions();
[[nodiscard]] const instruction_set& aarch64_instructions();
/// Null: calls of this machine's code are not analysed.
[[nodiscard]] const instruction_set* instructions_of(std::uint16_t elf_machine);
}  // namespace arch

/// The registers that an instruction writes without naming them as operands (Capstone's numbers).
[[nodiscard]] std::vector<std::uint16_t> written_registers(csh decoder, const cs_insn& instruction);

}  // namespace mpiacq::unwinding
