// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arguments/value_graph.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// The registers and the stores of a piece of code that runs from its beginning to its end without a join, as far as
/// they are known. At the beginning, each register has an opaque value. Registers have their DWARF numbers.
class straight_trace {
 public:
  struct store {
    value_id address = unknown_value;  ///< unknown: any memory may have changed
    std::uint32_t size = 0;            ///< bytes
    value_id value = unknown_value;
  };

  straight_trace();

  [[nodiscard]] value_graph& values() { return values_; }
  [[nodiscard]] const value_graph& values() const { return values_; }
  [[nodiscard]] std::span<const store> stores() const { return stores_; }

  [[nodiscard]] value_id get(std::size_t number) const { return registers_[number]; }
  /// An unknown value becomes an opaque one, so that copies of it remain recognisable.
  void set(std::size_t number, value_id value);
  void forget(std::size_t number) { set(number, unknown_value); }

  /// The `bytes` bytes at `address`, extended with zeros; unknown for other sizes than 1, 2, 4 and 8.
  [[nodiscard]] value_id load(value_id address, std::size_t bytes);
  void store_value(value_id address, std::size_t bytes, value_id value);
  /// Any memory may have changed.
  void store_anywhere() { store_value(unknown_value, 0, unknown_value); }

 private:
  enum class relation : std::uint8_t { same, apart, unclear };
  [[nodiscard]] relation compare(const store& earlier, value_id address, std::size_t bytes) const;

  value_graph values_;
  std::array<value_id, thread_registers::most> registers_{};
  std::vector<store> stores_;
};

}  // namespace mpiacq::unwinding
