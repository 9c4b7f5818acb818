// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mpiacq::elf {

/// Tells at once of most numbers that they are not among a few. It never denies one that is.
class number_filter {
 public:
  void add(std::uint32_t number) { bits_.set(place_of(number)); }
  [[nodiscard]] bool may_have(std::uint32_t number) const { return bits_[place_of(number)]; }

 private:
  static constexpr int bits = 12;
  static std::size_t place_of(std::uint32_t number) { return (number * 0x9e3779b1U) >> (32 - bits); }
  std::bitset<std::size_t{1} << bits> bits_;
};

/// Where a wanted name stands in a string table, of its beginning. Linkers let names share their tails, so that one
/// name can stand at several places.
struct spelling {
  std::uint64_t offset = 0;
  std::size_t name = 0;  ///< its index
};

/// Looks for all of some names in one pass over a string table that comes in pieces: string tables are long (a large
/// program's has tens of megabytes), wanted names few. Of each string the last four bytes are looked at, and mostly no
/// more.
class spelling_search {
 public:
  /// `names` must outlive this. Empty ones are nowhere.
  explicit spelling_search(std::span<const std::string_view> names);

  /// How many bytes before a piece have to come with it, where the table has so many: a name may begin in them.
  [[nodiscard]] std::size_t overlap() const { return longest_; }
  /// A piece of the table at `offset`, of which the first `seen` bytes have come before.
  void look(std::uint64_t offset, std::span<const std::byte> piece, std::size_t seen);
  /// How many were found so far.
  [[nodiscard]] std::size_t count() const { return found_.size(); }
  /// What was found, in order of offsets.
  [[nodiscard]] std::vector<spelling> take();

 private:
  static constexpr std::size_t tail_size = sizeof(std::uint32_t);
  void try_all(std::uint64_t offset, std::string_view before_end);

  std::span<const std::string_view> names_;
  std::size_t longest_ = 0;
  bool has_short_ = false;  ///< a name of fewer bytes than a tail
  number_filter tails_;
  std::vector<spelling> found_;
};

}  // namespace mpiacq::elf
