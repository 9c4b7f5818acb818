// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding {

/// The values that an expression of call frame information can use.
class expression_view {
 public:
  virtual ~expression_view() = default;
  /// The value of a register in the callee frame. Empty: it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> value(std::size_t number) = 0;
  /// One word of memory. Empty: it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> read(std::uint64_t address) = 0;
};

/// Evaluates an expression (DWARF 5, 2.5) that `program_check` has accepted, so it has neither jumps nor divisions.
/// `cfa`, if present, is on the stack at the beginning (DWARF 5, 6.4.2.3). Numbers have the machine's width. Empty: the
/// expression pops more values than it has pushed, uses more than 64 stack entries, has an operation whose result is a
/// location and not a number, or needs a value that `view` lacks.
[[nodiscard]] std::optional<std::uint64_t> evaluate_expression(const architecture& machine,
                                                               std::span<const std::byte> expression,
                                                               std::optional<std::uint64_t> cfa, expression_view& view);

}  // namespace mpiacq::unwinding
