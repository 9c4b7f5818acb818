// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "columns/column.hpp"
#include "columns/ordered_worker.hpp"
#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// The bytes of strings, in blocks that never move.
class text_blocks {
 public:
  /// The memory behind the bytes that were taken, for `bytes` bytes; null if the block has fewer left.
  char* next(std::size_t bytes) { return bytes <= left_ ? end_ : nullptr; }
  void take(std::size_t bytes) {
    end_ += bytes;
    left_ -= bytes;
  }
  /// Begins a block of at least `bytes` bytes.
  void begin_block(std::size_t bytes);

 private:
  struct release {
    void operator()(char* block) const { std::free(block); }
  };
  std::vector<std::unique_ptr<char, release>> blocks_;
  char* end_ = nullptr;
  std::size_t left_ = 0;
  std::size_t next_size_ = 4096;
};

/// Keeps each distinct string once. The caller gives each string an identifier (dense, from 0), and adds the strings in
/// any order.
///
/// `add` recognises recent strings with a small table that stays in the processor's nearest cache. `finish` compares
/// all others, one part of the hash values after the other, so that those searches stay in the cache too. One large
/// hash table would cost a cache miss for each string, which is most of the cost of a table of distinct strings.
class string_pool {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct entry {
    const char* text = nullptr;
    std::uint32_t length = 0;      ///< of the text; for a failure, its note
    std::uint32_t same_as = none;  ///< the identifier of the kept equal string, which may be its own
  };

  explicit string_pool(std::size_t identifiers);

  /// Exactly one of these two is called for each identifier.
  void add(std::uint32_t id, std::string_view text);
  void add_failure(std::uint32_t id, std::uint32_t note) { entries_[id] = {nullptr, note, none}; }
  /// To be called after the last `add`, before the functions below. `helper` does half of the work. `spare` is memory
  /// that the caller no longer needs. It is reused if it is large enough, because the kernel has to clear new memory.
  void finish(ordered_worker& helper, column<target_address> spare);
  void finish() {
    ordered_worker alone(false);
    finish(alone, {});
  }

  /// The identifier that keeps the string of `id` in a pool's entries; `none` if it has no string.
  [[nodiscard]] static std::uint32_t kept_as(const column<entry>& entries, std::uint32_t id);
  /// Whether an identifier shares another one's string, or has none.
  [[nodiscard]] bool has_gaps(std::size_t identifiers) const { return kept_ != identifiers; }

  [[nodiscard]] column<entry>& entries() { return entries_; }
  [[nodiscard]] const column<entry>& entries() const { return entries_; }
  [[nodiscard]] text_blocks& texts() { return texts_; }

 private:
  struct hashed {
    std::uint32_t hash = 0;
    std::uint32_t id = none;
  };
  /// Grouped by part, in ascending order of identifiers within a part; `ends` has the end of each part.
  struct parts {
    column<hashed> strings;
    std::vector<std::uint32_t> ends;
    std::size_t largest = 0;
  };
  /// For each part, one count or index for the lower half of the identifiers and one for the upper half.
  using halves = std::array<std::vector<std::uint32_t>, 2>;

  [[nodiscard]] std::string_view text_of(std::uint32_t id) const { return {entries_[id].text, entries_[id].length}; }
  /// The memory of duplicate strings.
  struct shared {
    std::size_t strings = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::size_t part_of(std::uint32_t hash) const {
    return static_cast<std::size_t>(std::uint64_t{hash} >> shift_to_part_);
  }
  [[nodiscard]] parts part_by_hash(ordered_worker& helper, column<target_address> spare);
  /// Puts the strings of one half of the identifiers at `places`. Two threads may do this at once, for halves 0 and 1.
  void put_half(std::size_t half, std::vector<std::uint32_t>& places, hashed* out);
  [[nodiscard]] std::size_t half_of(std::uint32_t id) const { return id < entries_.size() / 2 ? 0 : 1; }
  /// Handles every second part from `first` on. Two threads may do this at once, for 0 and 1.
  [[nodiscard]] shared share_in_parts(const parts& all, std::size_t first, std::vector<std::uint32_t>& slots);
  [[nodiscard]] shared share_equal(std::span<const hashed> part, std::vector<std::uint32_t>& slots);
  void gather();

  column<entry> entries_;  // until `finish`, `same_as` of a kept string is its hash
  text_blocks texts_;
  std::vector<hashed> recent_;  // indexed by the low bits of the hash
  halves sizes_of_parts_;
  int shift_to_part_ = 0;
  std::size_t kept_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t twice_bytes_ = 0;  // of texts in the blocks that are no longer needed
};

}  // namespace mpiacq
