// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::unwinding {

/// What a walk reads of a process: words of a stack, from its top down to its roots, and now and then one from
/// elsewhere. The stack is read in large pieces, each where the one before it ended.
class stack_memory {
 public:
  static constexpr std::size_t first_piece = 16384;
  static constexpr std::size_t next_piece = 65536;

  /// `word_size`: bytes of a word, 4 or 8. `behind` must outlive this.
  stack_memory(memory_reader& behind, std::size_t word_size) : behind_(behind), word_size_(word_size), pages_(behind) {}

  /// Nothing of what was read before counts any more.
  void forget();
  /// Begins with a stack of which `top` has been read, from `address` on. `top` must stay until the next call.
  void begin(target_address address, std::span<const std::byte> top);

  /// Empty where it cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> word(target_address address);
  /// For everything that is no stack.
  [[nodiscard]] memory_reader& pages() { return pages_; }
  /// What a read failed with that concerns the whole target. No word is given after that.
  [[nodiscard]] std::optional<error>& failure() { return failure_; }

 private:
  [[nodiscard]] bool read_on();

  memory_reader& behind_;
  std::size_t word_size_;
  page_cache pages_;
  target_address at_;  ///< where `piece_` begins
  std::span<const std::byte> piece_;
  bool ended_ = false;          ///< there is nothing behind `piece_`
  std::vector<std::byte> own_;  ///< what `piece_` refers to behind the top
  std::optional<error> failure_;
};

}  // namespace mpiacq::unwinding
