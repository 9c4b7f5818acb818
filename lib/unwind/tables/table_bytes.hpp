// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::unwinding {

/// The unwind tables of a module in one process: the source of every piece that has not been read yet.
struct table_source {
  memory_reader& memory;
  target_address begin;            ///< of the segment that the tables are in
  bool unreadable = false;         ///< set by an incomplete read in this process; another process may have the bytes
  std::optional<error> failure{};  ///< set by a read that failed for the whole target
};

/// The bytes of one segment, read in pieces on first use, each from the process of the caller. Thread: any, several at
/// a time. Complete pieces are published and never change.
class table_bytes {
 public:
  static constexpr std::size_t piece_size = 65536;
  /// Tables larger than this are used up to this size only.
  static constexpr std::uint64_t most = std::uint64_t{1} << 30;

  explicit table_bytes(std::uint64_t size);
  ~table_bytes();
  table_bytes(const table_bytes&) = delete;
  table_bytes& operator=(const table_bytes&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Fills all of `into` from `offset` on; false if the segment has fewer bytes, or if they cannot be read.
  [[nodiscard]] bool read(table_source& source, std::uint64_t offset, std::span<std::byte> into);
  /// The address of the 8 bytes at `offset`; null if they have not been read, or if they are not contiguous.
  [[nodiscard]] const std::byte* known_word(std::uint64_t offset) const {
    const std::uint64_t within = offset % piece_size;
    if (offset >= size_ || within > piece_size - 8 || size_ - offset < 8) return nullptr;
    const std::byte* piece = pieces_[static_cast<std::size_t>(offset / piece_size)].load(std::memory_order_acquire);
    return piece == nullptr ? nullptr : piece + within;
  }
  /// The 8 bytes at `offset`, in the host's byte order; bytes behind the end are 0. Empty if they cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> word(table_source& source, std::uint64_t offset);

 private:
  [[nodiscard]] const std::byte* piece(table_source& source, std::size_t index);
  [[nodiscard]] const std::byte* read_piece(table_source& source, std::size_t index);

  std::uint64_t size_;
  std::mutex reading_;
  std::vector<std::atomic<const std::byte*>> pieces_;
};

}  // namespace mpiacq::unwinding
