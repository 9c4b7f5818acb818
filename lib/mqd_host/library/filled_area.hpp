// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mpiacq::mqd_host {

/// Memory that a library fills: longer than what it should write, and full of a pattern before, so that what it left as
/// it was is told from what it wrote, and what it wrote beyond is seen instead of being somebody else's.
class filled_area {
 public:
  explicit filled_area(std::size_t declared);

  /// Puts the pattern back, before the next call.
  void prefill();
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t declared() const { return declared_; }

  /// The number there, as the library wrote it; empty where it wrote nothing.
  template <class T>
  [[nodiscard]] std::optional<T> number(std::size_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset + sizeof(T) > bytes_.size() || is_untouched(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  /// The text there without its terminator, `most` bytes at most; empty where the library wrote none.
  [[nodiscard]] std::string_view text(std::size_t offset, std::size_t most) const;
  /// None of these bytes was written, as far as one can see.
  [[nodiscard]] bool is_untouched(std::size_t offset, std::size_t size) const;
  /// Each of them was.
  [[nodiscard]] bool is_all_touched(std::size_t offset, std::size_t size) const;
  /// How many bytes past `offset` the last one is that was written; 0: none.
  [[nodiscard]] std::size_t written_past(std::size_t offset) const;

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t declared_;
};

}  // namespace mpiacq::mqd_host
