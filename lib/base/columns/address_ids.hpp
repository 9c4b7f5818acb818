// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "columns/column.hpp"
#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// Numbers the distinct string addresses of a table in the order of their first occurrence.
///
/// Optimised for usual tables: a column repeats its last address, ascends because a loop filled it, or returns to one
/// of few addresses. An address may get more than one number (from two columns, or because a search in the hash table
/// stops after a fixed number of steps). Which strings are shared is decided later, by their contents.
class address_ids {
 public:
  /// The state of one column while its rows are read from top to bottom.
  struct cursor {
    std::uint32_t last_id = UINT32_MAX;  // null_id
    std::uint64_t highest = 0;
  };

  static constexpr std::uint32_t null_id = UINT32_MAX;

  /// The number of `address`; null_id for null. The caller handles an address that equals the one before it.
  std::uint32_t id(cursor& at, std::uint64_t address);

  /// Reserves memory for `count` distinct addresses.
  void expect(std::size_t count) { addresses_.reserve(count); }

  [[nodiscard]] std::span<const target_address> addresses() const { return addresses_.span(); }
  /// Returns the addresses, indexed by number. No numbers can be given afterwards.
  [[nodiscard]] column<target_address> take_addresses() { return std::move(addresses_); }
  /// Whether a null address followed another address.
  [[nodiscard]] bool saw_null() const { return saw_null_; }

 private:
  std::uint32_t append(std::uint64_t address) {
    addresses_.push_back(target_address{address});
    return static_cast<std::uint32_t>(addresses_.size() - 1);
  }
  std::uint32_t find_or_append(std::uint64_t address);
  void hash_the_new();
  void insert(std::uint32_t id);

  column<target_address> addresses_;  // indexed by number
  std::vector<std::uint32_t> slots_;  // open addressing: number + 1; 0 in empty slots
  std::size_t hashed_ = 0;            // numbers below this are in slots_
  bool saw_null_ = false;
};

}  // namespace mpiacq
