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
  /// Room for `bytes` right behind what was taken before, or null where the block has no more.
  char* next(std::size_t bytes) { return bytes <= left_ ? end_ : nullptr; }
  void take(std::size_t bytes) {
    end_ += bytes;
    left_ -= bytes;
  }
  /// Begins a block with room for at least `bytes`.
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

/// Keeps each distinct string once. Strings come under identifiers that the caller gave out beforehand (dense, from 0),
/// in any order.
///
/// What was there a short while ago is known again at once, from a table that stays in the processor's nearest cache.
/// All else is looked for in `finish`, part by part of the hashes, so that those searches stay in the cache as well:
/// one large hash table would cost a miss for each string, which is most of what a table of own strings costs.
class string_pool {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct entry {
    const char* text = nullptr;
    std::uint32_t length = 0;      ///< of the text; the note of a failure
    std::uint32_t same_as = none;  ///< the identifier of an equal string: of itself where it is the one kept
  };

  explicit string_pool(std::size_t identifiers);

  /// One of these two for each identifier.
  void add(std::uint32_t id, std::string_view text);
  void add_failure(std::uint32_t id, std::uint32_t note) { entries_[id] = {nullptr, note, none}; }
  /// After the last of them, before anything below. `helper` does half of the work. `spare` is memory that the caller
  /// no longer needs: it is used again where it is large enough, since the kernel has to clear new memory.
  void finish(ordered_worker& helper, column<target_address> spare);
  void finish() {
    ordered_worker alone(false);
    finish(alone, {});
  }

  /// The identifier that keeps the string of `id` among a pool's entries; none where it has none.
  [[nodiscard]] static std::uint32_t kept_as(const column<entry>& entries, std::uint32_t id);
  /// Some of `identifiers` shares another's string, or has none.
  [[nodiscard]] bool has_gaps(std::size_t identifiers) const { return kept_ != identifiers; }

  [[nodiscard]] column<entry>& entries() { return entries_; }
  [[nodiscard]] const column<entry>& entries() const { return entries_; }
  [[nodiscard]] text_blocks& texts() { return texts_; }

 private:
  struct hashed {
    std::uint32_t hash = 0;
    std::uint32_t id = none;
  };
  /// In ascending order of identifiers, and with those of a part together; `ends` says where each part ends.
  struct parts {
    column<hashed> strings;
    std::vector<std::uint32_t> ends;
    std::size_t largest = 0;
  };
  /// For each part, one count or place for the lower half of the identifiers and one for the upper half.
  using halves = std::array<std::vector<std::uint32_t>, 2>;

  [[nodiscard]] std::string_view text_of(std::uint32_t id) const { return {entries_[id].text, entries_[id].length}; }
  /// What equal strings took up that are kept once now.
  struct shared {
    std::size_t strings = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::size_t part_of(std::uint32_t hash) const {
    return static_cast<std::size_t>(std::uint64_t{hash} >> shift_to_part_);
  }
  [[nodiscard]] parts part_by_hash(ordered_worker& helper, column<target_address> spare);
  /// Puts the strings of one half of the identifiers where `places` says. Threads may do that for 0 and 1 at a time.
  void put_half(std::size_t half, std::vector<std::uint32_t>& places, hashed* out);
  [[nodiscard]] std::size_t half_of(std::uint32_t id) const { return id < entries_.size() / 2 ? 0 : 1; }
  /// In every second part from `first` on. Threads may do that for 0 and 1 at a time.
  [[nodiscard]] shared share_in_parts(const parts& all, std::size_t first, std::vector<std::uint32_t>& slots);
  [[nodiscard]] shared share_equal(std::span<const hashed> part, std::vector<std::uint32_t>& slots);
  void gather();

  column<entry> entries_;  // until `finish`, `same_as` of a kept string is its hash
  text_blocks texts_;
  std::vector<hashed> recent_;  // by the hash's low bits
  halves sizes_of_parts_;
  int shift_to_part_ = 0;
  std::size_t kept_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t twice_bytes_ = 0;  // of texts that stand in the blocks and are no longer needed
};

}  // namespace mpiacq
