// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::unwinding {

/// Reads the memory that a walk needs: the words of a stack from its top to its outermost frame, and some words
/// elsewhere. The stack is read in large consecutive pieces.
class stack_memory {
 public:
  static constexpr std::size_t first_piece = 16384;
  static constexpr std::size_t next_piece = 65536;

  /// `word_size`: bytes of a word, 4 or 8. `behind` must outlive this object.
  stack_memory(memory_reader& behind, std::size_t word_size) : behind_(behind), word_size_(word_size), pages_(behind) {}

  /// Drops everything that was read before.
  void forget();
  /// Begins with a stack whose `top` has been read, from `address` on. `top` must stay valid until the next call.
  void begin(target_address address, std::span<const std::byte> top);

  /// One word; empty if it cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> word(target_address address);
  /// Reads memory outside of the stack.
  [[nodiscard]] memory_reader& pages() { return pages_; }
  /// The error of a read that concerns the whole target. After such an error every word is empty.
  [[nodiscard]] std::optional<error>& failure() { return failure_; }

 private:
  [[nodiscard]] bool read_on();

  memory_reader& behind_;
  std::size_t word_size_;
  page_cache pages_;
  target_address at_;  ///< the address of the first byte of `piece_`
  std::span<const std::byte> piece_;
  bool ended_ = false;          ///< no more memory follows `piece_`
  std::vector<std::byte> own_;  ///< owns the bytes of `piece_` beyond the top
  std::optional<error> failure_;
};

}  // namespace mpiacq::unwinding
