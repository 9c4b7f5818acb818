// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding {

/// Checks the programs of a CIE and of one of its FDEs before libunwind or our own evaluator runs them. libunwind takes
/// a program as it is: it divides the smallest number by -1, follows jumps in an expression without a bound, and uses
/// the number of a register as an index.
class program_check {
 public:
  /// `pointers`: the encoding that DW_CFA_set_loc uses.
  program_check(const architecture& machine, std::uint8_t pointers) : machine_(machine), pointers_(pointers) {}

  /// True where every instruction is known, stands in the program as a whole, and contains nothing but what compilers
  /// make: no jumps and no divisions in expressions, and no row of rules that does not say what a frame's address is.
  [[nodiscard]] bool accepts(std::span<const std::byte> program);
  /// What was accepted until now says what a frame's address is. The C library's way back from a signal handler says it
  /// in the FDE only.
  [[nodiscard]] bool defines_cfa() const { return defines_cfa_; }

 private:
  const architecture& machine_;
  std::uint8_t pointers_;
  std::size_t remembered_ = 0;
  bool defines_cfa_ = false;
};

}  // namespace mpiacq::unwinding
