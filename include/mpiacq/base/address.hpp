// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Addresses in a target: at run time, and as the linker assigned them.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>

namespace mpiacq {

/// A virtual address in a target process (or in a core file of one).
///
/// The address is a number and not a pointer of this program: the target may have another width and byte order. An
/// address of a 32-bit target is extended with zeros.
class target_address {
 public:
  constexpr target_address() = default;
  /// The address with this number.
  constexpr explicit target_address(std::uint64_t value) : value_(value) {}

  /// The address as a number.
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  /// Whether this is the null pointer.
  [[nodiscard]] constexpr bool is_null() const { return value_ == 0; }

  /// The address `bytes` further on; empty if that does not fit into 64 bits. Use it for offsets that come from the
  /// target, so that a foreign number cannot wrap around unnoticed.
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

/// An address as the linker assigned it inside one file. The address at run time is this offset plus the load bias of
/// the module.
class module_offset {
 public:
  constexpr module_offset() = default;
  /// The offset with this number.
  constexpr explicit module_offset(std::uint64_t value) : value_(value) {}
  /// The offset as a number.
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
