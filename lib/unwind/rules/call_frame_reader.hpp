// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mpiacq/base/abi.hpp"

namespace mpiacq::unwinding {

/// Reads DWARF's numbers one after the other. A read past the end gives 0 and is recorded, so that a caller checks for
/// it once, at the end. Little-endian, like every supported machine.
class record_reader {
 public:
  explicit record_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool at_end() const { return !good_ || position_ == bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(position_); }

  std::uint64_t fixed(std::size_t size) {
    if (!has(size)) return 0;
    position_ += size;
    return decode_unsigned(bytes_.subspan(position_ - size, size), byte_order::little);
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(fixed(1)); }
  std::int64_t signed_fixed(std::size_t size) {
    const auto shift = static_cast<unsigned>(64 - 8 * size);
    return static_cast<std::int64_t>(fixed(size) << shift) >> shift;
  }
  /// LEB128 in at most the ten bytes that 64 bits need. A longer number is an error: readers interpret it differently,
  /// and libunwind must read exactly what was checked.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      value |= std::uint64_t{b & 0x7fU} << shift;
      if ((b & 0x80) == 0) return value;
    }
    good_ = false;
    return 0;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const std::uint8_t b = byte();
      value |= std::uint64_t{b & 0x7fU} << shift;
      shift += 7;
      if ((b & 0x80) != 0) continue;
      if (shift < 64 && (b & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    good_ = false;
    return 0;
  }
  std::string_view c_string() {
    const std::size_t begin = position_;
    while (good_ && byte() != 0) continue;
    if (!good_) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, position_ - begin - 1};
  }
  void skip(std::uint64_t size) { (void)take(size); }
  /// The next `size` bytes; empty if fewer are left.
  std::span<const std::byte> take(std::uint64_t size) {
    if (!has(size)) return {};
    position_ += static_cast<std::size_t>(size);
    return bytes_.subspan(position_ - static_cast<std::size_t>(size), static_cast<std::size_t>(size));
  }

 private:
  bool has(std::uint64_t size) {
    if (size > bytes_.size() - position_) good_ = false;
    return good_;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
};

}  // namespace mpiacq::unwinding
