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

/// Memory that a library fills. It is longer than the structure and full of a pattern, so that written bytes can be
/// distinguished from untouched ones, and writes beyond the structure are detected and do no harm.
class filled_area {
 public:
  explicit filled_area(std::size_t declared);

  /// Restores the pattern before the next call.
  void prefill();
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t declared() const { return declared_; }

  /// The number that the library wrote at the offset; empty if it wrote none.
  template <class T>
  [[nodiscard]] std::optional<T> number(std::size_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset + sizeof(T) > bytes_.size() || is_untouched(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  /// The text at the offset without its terminator, at most `most` bytes; empty if the library wrote none.
  [[nodiscard]] std::string_view text(std::size_t offset, std::size_t most) const;
  /// Whether none of these bytes was written. A byte that was written with the pattern's value counts as untouched.
  [[nodiscard]] bool is_untouched(std::size_t offset, std::size_t size) const;
  /// Whether each of these bytes was written.
  [[nodiscard]] bool is_all_touched(std::size_t offset, std::size_t size) const;
  /// The distance from `offset` to behind the last written byte; 0 if no byte past `offset` was written.
  [[nodiscard]] std::size_t written_past(std::size_t offset) const;

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t declared_;
};

}  // namespace mpiacq::mqd_host
