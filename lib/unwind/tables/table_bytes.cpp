// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/table_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace mpiacq::unwinding {

table_bytes::table_bytes(std::uint64_t size)
    : size_(std::min(size, most)), pieces_(static_cast<std::size_t>((size_ + piece_size - 1) / piece_size)) {}

table_bytes::~table_bytes() {
  for (const auto& p : pieces_) delete[] p.load(std::memory_order_relaxed);
}

const std::byte* table_bytes::piece(table_source& source, std::size_t index) {
  const std::byte* known = pieces_[index].load(std::memory_order_acquire);
  return known != nullptr ? known : read_piece(source, index);
}

/// Only a complete piece is kept for other processes: a piece that one process cannot read may be readable in another.
const std::byte* table_bytes::read_piece(table_source& source, std::size_t index) {
  const std::lock_guard lock{reading_};
  if (const std::byte* known = pieces_[index].load(std::memory_order_relaxed)) return known;
  const std::uint64_t offset = std::uint64_t{index} * piece_size;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece_size, size_ - offset));
  auto bytes = std::make_unique<std::byte[]>(piece_size);
  memory_range range{source.begin + offset, std::span{bytes.get(), wanted}};
  if (auto read = source.memory.read_ranges({&range, 1}); !read) {
    source.failure = std::move(read).error();
    return nullptr;
  }
  if (range.got < wanted) {
    source.unreadable = true;
    return nullptr;
  }
  pieces_[index].store(bytes.get(), std::memory_order_release);
  return bytes.release();
}

bool table_bytes::read(table_source& source, std::uint64_t offset, std::span<std::byte> into) {
  if (offset > size_ || into.size() > size_ - offset) return false;
  while (!into.empty()) {
    const std::byte* from = piece(source, static_cast<std::size_t>(offset / piece_size));
    if (from == nullptr) return false;
    const auto within = static_cast<std::size_t>(offset % piece_size);
    const std::size_t count = std::min(into.size(), piece_size - within);
    std::memcpy(into.data(), from + within, count);
    offset += count;
    into = into.subspan(count);
  }
  return true;
}

std::optional<std::uint64_t> table_bytes::word(table_source& source, std::uint64_t offset) {
  if (offset >= size_) return std::nullopt;
  std::array<std::byte, 8> bytes{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), size_ - offset));
  if (!read(source, offset, std::span{bytes}.first(count))) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

}  // namespace mpiacq::unwinding
