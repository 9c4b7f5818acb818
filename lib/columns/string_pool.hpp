// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "column.hpp"

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
  /// Gives back everything taken from `from` on, in this block.
  void give_back(char* from) {
    left_ += static_cast<std::size_t>(end_ - from);
    end_ = from;
  }

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
  /// After the last of them, before anything below.
  void finish() { flush(); }

  /// The identifier that keeps the string of `id` among a pool's entries; none where it has none.
  [[nodiscard]] static std::uint32_t kept_as(const column<entry>& entries, std::uint32_t id);
  /// Some of `identifiers` shares another's string, or has none.
  [[nodiscard]] bool has_gaps(std::size_t identifiers) const { return kept_ != identifiers; }

  [[nodiscard]] column<entry>& entries() { return entries_; }
  [[nodiscard]] const column<entry>& entries() const { return entries_; }
  [[nodiscard]] text_blocks& texts() { return texts_; }

 private:
  struct slot {
    std::uint32_t hash = 0;
    std::uint32_t id = none;
  };
  struct pending {
    std::uint32_t id = none;
    std::uint32_t hash = 0;
    std::string_view text;
  };
  static constexpr std::size_t batch = 32;

  void flush();
  [[nodiscard]] bool is_like_last(std::string_view text) const;
  slot* find(std::uint32_t hash, std::string_view text);
  void grow(std::size_t slots);

  column<entry> entries_;
  text_blocks texts_;
  column<slot> slots_;
  std::size_t added_ = 0;
  std::size_t kept_ = 0;
  std::uint32_t last_ = none;  // the identifier added last
  std::string_view last_text_;
  std::array<pending, batch> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace mpiacq
