// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mpiacq::unwinding {

/// Checks the programs of a CIE and of one of its FDEs before libunwind runs them, which takes them as they are: it
/// divides the smallest number by -1, goes round in an expression for as long as that says, and takes the number of a
/// register for an index.
class program_check {
 public:
  /// `pointers`: the encoding that DW_CFA_set_loc uses.
  explicit program_check(std::uint8_t pointers) : pointers_(pointers) {}

  /// True where every instruction is known, stands in the program as a whole, and contains nothing but what compilers
  /// make: no jumps and no divisions in expressions, and no row of rules that does not say what a frame's address is.
  [[nodiscard]] bool accepts(std::span<const std::byte> program);
  /// What was accepted until now says what a frame's address is. The C library's way back from a signal handler says it
  /// in the FDE only.
  [[nodiscard]] bool defines_cfa() const { return defines_cfa_; }

 private:
  std::uint8_t pointers_;
  std::size_t remembered_ = 0;
  bool defines_cfa_ = false;
};

}  // namespace mpiacq::unwinding
