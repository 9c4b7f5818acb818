// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding {

/// What an expression of call frame information may ask for.
class expression_view {
 public:
  virtual ~expression_view() = default;
  /// What a register holds in the frame that is left. Empty: it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> value(std::size_t number) = 0;
  /// One word of the machine's. Empty: it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> read(std::uint64_t address) = 0;
};

/// Evaluates an expression (DWARF 5, 2.5) that `program_check` has accepted, so that it has neither jumps nor
/// divisions. `cfa` is on the stack at the beginning, where there is one (DWARF 5, 6.4.2.3). Numbers have the machine's
/// width. Empty: the expression takes more from its stack than it put there, uses more than 64 places, has an operation
/// that gives a place instead of a number, or asks `view` for what it does not have.
[[nodiscard]] std::optional<std::uint64_t> evaluate_expression(const architecture& machine,
                                                               std::span<const std::byte> expression,
                                                               std::optional<std::uint64_t> cfa, expression_view& view);

}  // namespace mpiacq::unwinding
