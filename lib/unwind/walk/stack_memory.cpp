// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "walk/stack_memory.hpp"

#include <array>
#include <cstring>

namespace mpiacq::unwinding {

void stack_memory::forget() {
  pages_.forget();
  begin({}, {});
}

void stack_memory::begin(target_address address, std::span<const std::byte> top) {
  at_ = address;
  piece_ = top;
  ended_ = top.empty();
}

/// Replaces this piece by the next one. The last word of this piece is kept, because a read may straddle both.
bool stack_memory::read_on() {
  const std::size_t kept = std::min(piece_.size(), word_size_);
  const auto next = at_.checked_add(piece_.size() - kept);
  if (!next) return false;
  std::vector<std::byte> bytes(next_piece);
  memory_range range{*next, bytes};
  if (auto read = behind_.read_ranges({&range, 1}); !read) {
    failure_ = std::move(read).error();
    return false;
  }
  ended_ = range.got < bytes.size();
  if (range.got <= kept) return false;
  own_ = std::move(bytes);
  begin(*next, std::span{own_}.first(range.got));
  ended_ = range.got < next_piece;
  return true;
}

std::optional<std::uint64_t> stack_memory::word(target_address address) {
  if (failure_) return std::nullopt;
  for (bool again = true;; again = false) {
    const std::uint64_t offset = address - at_;  // before the piece: very large
    if (piece_.size() >= word_size_ && offset <= piece_.size() - word_size_) {
      return decode_unsigned(piece_.subspan(static_cast<std::size_t>(offset), word_size_), byte_order::little);
    }
    const bool is_next = offset < piece_.size() + next_piece / 2;
    if (!again || !is_next || ended_ || !read_on()) break;
  }
  std::array<std::byte, 8> buffer{};
  const std::span bytes = std::span{buffer}.first(word_size_);
  memory_range range{address, bytes};
  if (auto read = pages_.read_ranges({&range, 1}); !read) {
    failure_ = std::move(read).error();
    return std::nullopt;
  }
  if (range.got < bytes.size()) return std::nullopt;
  return decode_unsigned(bytes, byte_order::little);
}

}  // namespace mpiacq::unwinding
