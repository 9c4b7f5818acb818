// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::test {

/// A target's memory that a test defines: mapped pieces, and nothing between them. It counts the requests.
class fake_memory final : public memory_reader, public memory_writer {
 public:
  /// Maps `bytes` at `address`. Pieces must not overlap; one read can cover adjacent pieces.
  void map(target_address address, std::vector<std::byte> bytes) { pieces_[address.value()] = std::move(bytes); }
  void map(target_address address, std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    map(address, std::vector<std::byte>(begin, begin + text.size()));
  }

  result<void> read_ranges(std::span<memory_range> ranges) override {
    ++calls;
    for (memory_range& range : ranges) {
      ++ranges_read;
      range.got = 0;
      if (process_gone) continue;
      while (range.got < range.into.size()) {
        const std::size_t copied = copy_from(range.address + range.got, range.into.subspan(range.got));
        if (copied == 0) break;
        range.got += copied;
      }
      bytes_read += range.got;
    }
    if (process_gone) return fail(error_code::process_gone, "the fake process has ended");
    return {};
  }

  result<void> write(target_address address, std::span<const std::byte> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::byte* where = find(address + i);
      if (where == nullptr) {
        return fail(error{error_code::unreadable_memory, "the fake has no memory there"}.at(address + i));
      }
      *where = bytes[i];
    }
    return {};
  }

  bool process_gone = false;  ///< set: every read fails as if the process had ended
  std::size_t calls = 0;
  std::size_t ranges_read = 0;
  std::size_t bytes_read = 0;

 private:
  std::byte* find(target_address address) {
    auto piece = pieces_.upper_bound(address.value());
    if (piece == pieces_.begin()) return nullptr;
    --piece;
    const std::uint64_t offset = address.value() - piece->first;
    return offset < piece->second.size() ? &piece->second[offset] : nullptr;
  }

  std::size_t copy_from(target_address address, std::span<std::byte> into) {
    auto piece = pieces_.upper_bound(address.value());
    if (piece == pieces_.begin()) return 0;
    --piece;
    const std::uint64_t offset = address.value() - piece->first;
    if (offset >= piece->second.size()) return 0;
    const std::size_t count = std::min<std::size_t>(into.size(), piece->second.size() - offset);
    std::copy_n(piece->second.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }

  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
};

}  // namespace mpiacq::test
