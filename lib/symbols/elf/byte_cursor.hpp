// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpiacq/base/abi.hpp"

namespace mpiacq::debug_info {

/// Reads DWARF's numbers one after the other. Past the end it returns 0, and `good` becomes false.
class byte_cursor {
 public:
  byte_cursor(std::span<const std::byte> bytes, byte_order order) : rest_(bytes), order_(order) {}

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

  std::uint64_t number(std::size_t size) {
    const auto bytes = take(size);
    return good_ ? decode_unsigned(bytes, order_) : 0;
  }

  /// Unsigned LEB128. Bits beyond 64 are dropped.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto bytes = take(1);
      if (!good_) return 0;
      const auto b = std::to_integer<std::uint64_t>(bytes[0]);
      if (shift < 64) value |= (b & 0x7f) << shift;
      if ((b & 0x80) == 0) return value;
    }
  }

  /// Signed LEB128.
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto bytes = take(1);
      if (!good_) return 0;
      const auto b = std::to_integer<std::uint64_t>(bytes[0]);
      if (shift < 64) value |= (b & 0x7f) << shift;
      shift += 7;
      if ((b & 0x80) != 0) continue;
      if (shift < 64 && (b & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// A length, and the size of the offsets after it: 4 bytes, or 8 behind an escape (DWARF 5, 7.4).
  struct unit_length {
    std::uint64_t length = 0;
    std::size_t offset_size = 4;
  };
  unit_length length() {
    constexpr std::uint64_t wide_follows = 0xffffffff;
    const std::uint64_t narrow = number(4);
    if (narrow != wide_follows) return {narrow, 4};
    return {number(8), 8};
  }

  /// The next bytes; if fewer are left, returns them, and `good` becomes false.
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > rest_.size()) {
      good_ = false;
      size = rest_.size();
    }
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  /// A string up to its terminator, without it.
  std::span<const std::byte> text() {
    const auto end = std::find(rest_.begin(), rest_.end(), std::byte{0});
    const auto found = take(static_cast<std::uint64_t>(end - rest_.begin()));
    take(1);
    return found;
  }

 private:
  std::span<const std::byte> rest_;
  byte_order order_;
  bool good_ = true;
};

}  // namespace mpiacq::debug_info
