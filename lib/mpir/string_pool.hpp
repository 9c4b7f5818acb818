// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "column.hpp"

namespace mpiacq {

/// Keeps each distinct string once. Strings come under identifiers that the caller gave out beforehand (dense, from 0),
/// in any order; identifiers with equal strings have the same `same_as`.
class string_pool {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct entry {
    std::uint64_t offset = 0;  ///< in the bytes
    std::uint32_t length = 0;
    std::uint32_t same_as = none;  ///< the identifier that holds the string: itself, or another; none: no string
  };

  explicit string_pool(std::size_t identifiers);

  void add(std::uint32_t id, std::string_view text);
  /// Some identifier shares another's string, or has none.
  [[nodiscard]] bool has_gaps() const { return kept_ != entries_.size(); }
  [[nodiscard]] std::size_t kept() const { return kept_; }

  [[nodiscard]] column<entry>& entries() { return entries_; }
  [[nodiscard]] column<char>& bytes() { return bytes_; }

 private:
  struct slot {
    std::uint32_t hash = 0;
    std::uint32_t id = none;
  };
  [[nodiscard]] std::string_view text(const entry& e) const { return {bytes_.data() + e.offset, e.length}; }
  void grow();
  slot* find(std::uint32_t hash, std::string_view text);

  column<entry> entries_;
  column<char> bytes_;
  std::vector<slot> slots_;
  std::size_t kept_ = 0;
  std::uint32_t last_ = none;
};

}  // namespace mpiacq
