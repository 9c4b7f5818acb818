// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>

namespace mpiacq {

/// A virtual address in a target process (or in a core file of one).
///
/// It is a number, never a pointer of ours: the target may be of another width and byte order, and nothing at this
/// address belongs to us. 64 bits hold the address of every target; a 32-bit target's is zero-extended.
class target_address {
 public:
  constexpr target_address() = default;
  constexpr explicit target_address(std::uint64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_null() const { return value_ == 0; }

  /// The address `bytes` further on; empty where that would pass the end of 64 bits. For offsets that come out of the
  /// target: never let a foreign number wrap around unnoticed.
  [[nodiscard]] constexpr std::optional<target_address> checked_add(std::uint64_t bytes) const {
    if (bytes > UINT64_MAX - value_) return std::nullopt;
    return target_address{value_ + bytes};
  }

  /// Wraps modulo 2^64, as load biases do.
  friend constexpr target_address operator+(target_address a, std::uint64_t bytes) {
    return target_address{a.value_ + bytes};
  }
  friend constexpr target_address operator-(target_address a, std::uint64_t bytes) {
    return target_address{a.value_ - bytes};
  }
  friend constexpr std::uint64_t operator-(target_address a, target_address b) { return a.value_ - b.value_; }
  friend constexpr auto operator<=>(target_address, target_address) = default;

 private:
  std::uint64_t value_ = 0;
};

/// An address as the linker gave it, inside one module's file. It means nothing without its module: the run-time
/// address is this plus the module's load bias.
class module_offset {
 public:
  constexpr module_offset() = default;
  constexpr explicit module_offset(std::uint64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  friend constexpr auto operator<=>(module_offset, module_offset) = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace mpiacq

template <>
struct std::hash<mpiacq::target_address> {
  std::size_t operator()(mpiacq::target_address a) const noexcept { return std::hash<std::uint64_t>{}(a.value()); }
};
