// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mpiacq::elf {

/// A filter that excludes most numbers outside of a small set. It never excludes a member.
class number_filter {
 public:
  void add(std::uint32_t number) { bits_.set(place_of(number)); }
  [[nodiscard]] bool may_have(std::uint32_t number) const { return bits_[place_of(number)]; }

 private:
  static constexpr int bits = 12;
  static std::size_t place_of(std::uint32_t number) { return (number * 0x9e3779b1U) >> (32 - bits); }
  std::bitset<std::size_t{1} << bits> bits_;
};

/// Where a wanted name begins in a string table. Linkers merge common tails of names, so one name can be at several
/// offsets.
struct spelling {
  std::uint64_t offset = 0;
  std::size_t name = 0;  ///< its index
};

/// Finds several names in one pass over a string table that comes in pieces: string tables are long (tens of megabytes
/// in a large program), and the wanted names are few. For most strings, only the last four bytes are read.
class spelling_search {
 public:
  /// `names` must outlive this object. Empty names are never found.
  explicit spelling_search(std::span<const std::string_view> names);

  /// How many bytes before a piece must come with it, if the table has so many: a name may begin there.
  [[nodiscard]] std::size_t overlap() const { return longest_; }
  /// Searches a piece of the table at `offset`. The previous piece has contained its first `seen` bytes.
  void look(std::uint64_t offset, std::span<const std::byte> piece, std::size_t seen);
  /// The number of places found so far.
  [[nodiscard]] std::size_t count() const { return found_.size(); }
  /// The places found, in the order of offsets.
  [[nodiscard]] std::vector<spelling> take();

 private:
  static constexpr std::size_t tail_size = sizeof(std::uint32_t);
  void try_all(std::uint64_t offset, std::string_view before_end);

  std::span<const std::string_view> names_;
  std::size_t longest_ = 0;
  bool has_short_ = false;  ///< a name is shorter than a tail
  number_filter tails_;
  std::vector<spelling> found_;
};

}  // namespace mpiacq::elf
