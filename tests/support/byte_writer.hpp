// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"

namespace mpiacq::test {

/// Builds the bytes of a target's structures, field by field.
class byte_writer {
 public:
  explicit byte_writer(const target_abi& abi) : abi_(abi) {}

  byte_writer& number(std::uint64_t value, std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    encode_integer(value, abi_.order, std::span{bytes_}.last(size));
    return *this;
  }
  byte_writer& byte(std::uint64_t value) { return number(value, 1); }
  byte_writer& half(std::uint64_t value) { return number(value, 2); }
  byte_writer& word(std::uint64_t value) { return number(value, 4); }
  byte_writer& wide(std::uint64_t value) { return number(value, abi_.pointer_size); }
  byte_writer& text(std::string_view value) {
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
    return *this;
  }
  /// A record of a symbol table. The order of its fields depends on the ELF class.
  byte_writer& symbol(std::uint64_t name, std::uint64_t value, std::uint64_t size, unsigned info, unsigned section) {
    word(name);
    if (abi_.pointer_size == 4) wide(value).wide(size);
    byte(info).byte(0).half(section);
    if (abi_.pointer_size == 8) wide(value).wide(size);
    return *this;
  }
  byte_writer& pad_to(std::size_t size) {
    if (bytes_.size() < size) bytes_.resize(size);
    return *this;
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  target_abi abi_;
  std::vector<std::byte> bytes_;
};

}  // namespace mpiacq::test
