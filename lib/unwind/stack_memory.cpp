// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stack_memory.hpp"

#include <array>
#include <cstring>

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t word_size = 8;

std::uint64_t decode(std::span<const std::byte> bytes) {
  return decode_unsigned(bytes.first(word_size), byte_order::little);
}

}  // namespace

void stack_memory::forget() {
  pages_.forget();
  begin({}, {});
}

void stack_memory::begin(target_address address, std::span<const std::byte> top) {
  at_ = address;
  piece_ = top;
  ended_ = top.empty();
}

/// Takes the next piece in the place of this one, with the last word of it, which may be asked for in halves.
bool stack_memory::read_on() {
  const std::size_t kept = std::min(piece_.size(), word_size);
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
    if (piece_.size() >= word_size && offset <= piece_.size() - word_size) {
      return decode(piece_.subspan(static_cast<std::size_t>(offset)));
    }
    const bool is_next = offset < piece_.size() + next_piece / 2;
    if (!again || !is_next || ended_ || !read_on()) break;
  }
  std::array<std::byte, word_size> bytes{};
  memory_range range{address, bytes};
  if (auto read = pages_.read_ranges({&range, 1}); !read) {
    failure_ = std::move(read).error();
    return std::nullopt;
  }
  if (range.got < bytes.size()) return std::nullopt;
  return decode(bytes);
}

}  // namespace mpiacq::unwinding
