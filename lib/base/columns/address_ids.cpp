// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "columns/address_ids.hpp"

#include <bit>

namespace mpiacq {

namespace {
constexpr std::size_t longest_search = 32;
constexpr std::size_t smallest_table = 4096;

std::size_t slot_of(std::uint64_t address, std::size_t slots) {
  // Multiplicative hashing; the high bits are the well-mixed ones.
  const int bits = std::countr_zero(slots);
  return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15U) >> (64 - bits));
}
}  // namespace

// Not inline: the loop that calls it needs its registers.
std::uint32_t address_ids::id(cursor& at, std::uint64_t address) {
  if (address > at.highest) {  // cannot have occurred in this column, so no search is needed
    at.highest = address;
    return at.last_id = append(address);
  }
  // If ranks are dealt out over hosts, the same sequence of addresses repeats.
  const std::uint32_t successor = at.last_id + 1;
  if (successor < addresses_.size() && addresses_[successor].value() == address) return at.last_id = successor;
  return at.last_id = find_or_append(address);
}

std::uint32_t address_ids::find_or_append(std::uint64_t address) {
  if (address == 0) {
    saw_null_ = true;
    return null_id;
  }
  hash_the_new();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = slot_of(address, slots_.size());
  for (std::size_t i = 0; i < longest_search && slots_[slot] != 0; ++i, slot = (slot + 1) & mask) {
    const std::uint32_t id = slots_[slot] - 1;
    if (addresses_[id].value() == address) return id;
  }
  return append(address);
}

/// Ascending columns never search, so the hash table is filled only before a search.
void address_ids::hash_the_new() {
  if (slots_.size() < 2 * addresses_.size() || slots_.empty()) {
    slots_.assign(std::max(smallest_table, std::bit_ceil(4 * addresses_.size())), 0);
    hashed_ = 0;
  }
  for (; hashed_ < addresses_.size(); ++hashed_) insert(static_cast<std::uint32_t>(hashed_));
}

void address_ids::insert(std::uint32_t id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = slot_of(addresses_[id].value(), slots_.size());
  for (std::size_t i = 0; i < longest_search; ++i, slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      slots_[slot] = id + 1;
      return;
    }
  }
}

}  // namespace mpiacq
