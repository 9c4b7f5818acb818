// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "arguments/instruction_set.hpp"

namespace mpiacq::unwinding {

/// The largest function whose calls are analysed, in bytes.
inline constexpr std::size_t largest_function = std::size_t{256} << 10U;

/// Capstone's decoder, and one instruction.
class instruction_decoder {
 public:
  explicit instruction_decoder(const instruction_set& set);
  ~instruction_decoder();
  instruction_decoder(const instruction_decoder&) = delete;
  instruction_decoder& operator=(const instruction_decoder&) = delete;

  /// The first instruction of `code`, valid until the next call. Null: the bytes are no instruction.
  [[nodiscard]] const cs_insn* decode(std::span<const std::byte> code, std::uint64_t at);
  [[nodiscard]] csh handle() const { return handle_; }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

/// The instructions of one piece of code, and the places where control may come from elsewhere. Addresses are offsets
/// in a module. The code must outlive the outline.
class code_outline {
 public:
  /// Beyond this number of instructions in front of an instruction, values are unknown.
  static constexpr std::size_t longest_run = 512;
  /// A path consists of so many runs at most.
  static constexpr std::size_t most_parts = 4;

  code_outline(const instruction_set& set, std::uint64_t begin, std::span<const std::byte> code);

  /// Decodes all of the code. False: it is too large, or it contains bytes that are no instruction.
  [[nodiscard]] bool decode();

  [[nodiscard]] const instruction_set& set() const { return set_; }
  [[nodiscard]] csh decoder() const { return decoder_.handle(); }
  [[nodiscard]] bool contains(std::uint64_t address) const { return address - begin_ < code_.size(); }
  /// The addresses of all instructions, in order.
  [[nodiscard]] std::span<const std::uint64_t> starts() const { return starts_; }
  [[nodiscard]] bool is_start(std::uint64_t address) const;
  /// The jumps to addresses that they do not contain.
  [[nodiscard]] std::span<const std::uint64_t> computed_jumps() const { return computed_jumps_; }
  /// The instruction at `address`, valid until the next call.
  [[nodiscard]] const cs_insn* at(std::uint64_t address);

  /// Control may come to `address` from elsewhere. False: this was known.
  bool add_join(std::uint64_t address);
  [[nodiscard]] bool is_join(std::uint64_t address) const { return joins_.contains(address); }
  /// The instructions that always run one after the other in front of the instruction from `address` to `next`.
  [[nodiscard]] std::span<const std::uint64_t> run_before(std::uint64_t address, std::uint64_t next) const;

  /// The places outside this code to which it jumps, and whether they certainly belong to the same function: a tail
  /// call has no condition, and no table.
  [[nodiscard]] const std::map<std::uint64_t, bool>& exits() const { return exits_; }
  void add_exit(std::uint64_t target, bool is_same_function) {
    bool& known = exits_[target];
    known = known || is_same_function;
  }

  /// One instruction on the way to another one.
  struct passed {
    std::uint64_t address = 0;
    bool jumps = false;  ///< control goes to the target of the jump, not to the next instruction
  };
  /// As `run_before`, with the instructions in front of a jump if nothing else leads to the beginning of the run.
  [[nodiscard]] std::vector<passed> path_before(std::uint64_t address, std::uint64_t next);

 private:
  /// What leads to a join, besides the instruction in front of it.
  struct sources {
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    std::uint64_t only_jump = none;  ///< the address of a jump
    bool has_others = false;
  };

  void add_jump(std::uint64_t target, std::uint64_t from);
  /// The only jump to a place that the instruction in front of it does not continue to. Empty: there is none, or more.
  [[nodiscard]] std::optional<std::uint64_t> only_jump_to(std::uint64_t address);
  void pass(std::uint64_t address, std::uint64_t next, const instruction_flow& flow);

  const instruction_set& set_;
  std::uint64_t begin_;
  std::span<const std::byte> code_;
  instruction_decoder decoder_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> computed_jumps_;
  std::map<std::uint64_t, sources> joins_;
  std::map<std::uint64_t, bool> exits_;
};

}  // namespace mpiacq::unwinding
