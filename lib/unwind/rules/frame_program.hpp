// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding {

/// Checks the programs of a CIE and of one of its FDEs before libunwind or our own evaluator runs them. libunwind does
/// not check a program: it divides the smallest number by -1, follows jumps in an expression without a bound, and uses
/// the number of a register as an index.
class program_check {
 public:
  /// `pointers`: the encoding of the operand of DW_CFA_set_loc.
  program_check(const architecture& machine, std::uint8_t pointers) : machine_(machine), pointers_(pointers) {}

  /// True if every instruction is known, is complete, and contains only what compilers write: no jumps or divisions in
  /// expressions, and a rule for the CFA in every row.
  [[nodiscard]] bool accepts(std::span<const std::byte> program);
  /// Whether the instructions so far define the CFA. For the C library's return from a signal handler, only the FDE
  /// defines it.
  [[nodiscard]] bool defines_cfa() const { return defines_cfa_; }

 private:
  const architecture& machine_;
  std::uint8_t pointers_;
  std::size_t remembered_ = 0;
  bool defines_cfa_ = false;
};

}  // namespace mpiacq::unwinding
