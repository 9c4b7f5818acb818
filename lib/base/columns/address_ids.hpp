// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "columns/column.hpp"
#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// Numbers the distinct string addresses of a table in the order in which they come.
///
/// Made for what tables look like: a column repeats its last address, or goes up because a loop filled it, or comes
/// back to one of few. An address may get more than one number (from two columns, or in a crowded corner of the hash
/// table, whose searches are short whatever the addresses are): the strings' contents decide in the end what is shared.
class address_ids {
 public:
  /// One column of the table, seen from top to bottom.
  struct cursor {
    std::uint32_t last_id = UINT32_MAX;  // null_id
    std::uint64_t highest = 0;
  };

  static constexpr std::uint32_t null_id = UINT32_MAX;

  /// The number of `address`, null_id for null. For addresses that differ from the one before: loops see to repeats
  /// themselves.
  std::uint32_t id(cursor& at, std::uint64_t address);

  /// Room for so many distinct addresses.
  void expect(std::size_t count) { addresses_.reserve(count); }

  [[nodiscard]] std::span<const target_address> addresses() const { return addresses_.span(); }
  /// The addresses by number, and an end of giving numbers.
  [[nodiscard]] column<target_address> take_addresses() { return std::move(addresses_); }
  /// A null came after something else.
  [[nodiscard]] bool saw_null() const { return saw_null_; }

 private:
  std::uint32_t append(std::uint64_t address) {
    addresses_.push_back(target_address{address});
    return static_cast<std::uint32_t>(addresses_.size() - 1);
  }
  std::uint32_t find_or_append(std::uint64_t address);
  void hash_the_new();
  void insert(std::uint32_t id);

  column<target_address> addresses_;  // by number
  std::vector<std::uint32_t> slots_;  // open addressing: number + 1, 0 where empty
  std::size_t hashed_ = 0;            // numbers below this are in slots_
  bool saw_null_ = false;
};

}  // namespace mpiacq
