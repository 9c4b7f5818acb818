// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// CBOR (RFC 8949) as these documents use it: numbers, texts, byte strings, booleans, null, arrays and maps of a known
// length, each head in its shortest form. Tags, floats and indefinite lengths do not occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::agents {

/// Bytes of the longest document.
inline constexpr std::size_t most_written = std::size_t{64} << 20U;

/// Keeps the first `most_written` bytes and one more: a longer document is never sent, and only its length counts.
class cbor_writer {
 public:
  void put_unsigned(std::uint64_t value) { head(0, value); }
  void put_integer(std::int64_t value);
  void put_bool(bool value) { byte(value ? 0xf5 : 0xf4); }
  void put_null() { byte(0xf6); }
  void put_bytes(std::span<const std::byte> bytes);
  /// As a text where it is UTF-8, else as a byte string: names come out of foreign files.
  void put_text(std::string_view text);
  /// `count` elements follow.
  void begin_array(std::size_t count) { head(4, count); }
  /// `count` pairs follow.
  void begin_map(std::size_t count) { head(5, count); }

  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  void byte(unsigned value) {
    if (bytes_.size() <= most_written) bytes_.push_back(static_cast<std::byte>(value));
  }
  void head(unsigned major, std::uint64_t value);
  void append(const void* data, std::size_t size);
  std::vector<std::byte> bytes_;
};

/// Reads what it is asked for, in order. The first thing that is not there ends it: from then on everything is empty,
/// and `failure` says what was wanted at which byte. Trusts no length.
class cbor_reader {
 public:
  explicit cbor_reader(std::span<const std::byte> bytes) : all_(bytes), rest_(bytes) {}

  [[nodiscard]] std::uint64_t get_unsigned(std::uint64_t most = UINT64_MAX);
  [[nodiscard]] std::int64_t get_integer();
  [[nodiscard]] bool get_bool();
  /// Whether a null comes next; then it is passed.
  [[nodiscard]] bool passed_null();
  [[nodiscard]] std::span<const std::byte> get_bytes();
  [[nodiscard]] std::string_view get_text();
  /// How many elements follow: never more than there are bytes left.
  [[nodiscard]] std::size_t begin_array();
  /// That just so many pairs follow.
  void begin_map(std::size_t count);
  /// That this key comes next.
  void key(std::string_view expected);
  /// The key that comes next, one of several.
  [[nodiscard]] std::string_view get_key() { return get_text(); }

  /// For what a value means, beyond its form.
  void give_up(error_code code, std::string why);
  [[nodiscard]] bool fine() const { return fine_; }
  /// Nothing was wrong, and nothing is left over.
  [[nodiscard]] result<void> finish();

 private:
  struct item {
    unsigned major = 8;  ///< 8: none
    std::uint64_t value = 0;
  };
  [[nodiscard]] item head(std::string_view wanted, unsigned major);
  [[nodiscard]] item any_head();
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t size);
  void not_there(std::string_view wanted);

  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
  bool fine_ = true;
  error failure_;
};

/// RFC 3629: no surrogates, nothing longer than it must be.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace mpiacq::agents
