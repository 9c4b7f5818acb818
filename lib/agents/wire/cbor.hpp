// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The part of CBOR (RFC 8949) that messages use: integers, texts, byte strings, booleans, null, and arrays and maps of
// definite length, each head in its shortest form. Tags, floats and indefinite lengths do not occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::agents {

/// The size of the longest document, in bytes.
inline constexpr std::size_t most_written = std::size_t{64} << 20U;

/// A function that the writer or reader of a long document calls every `values_between_pulses` values, so that its
/// thread can send heartbeats. May be empty.
using pulse = std::function<void()>;
/// Some milliseconds of work.
inline constexpr std::uint32_t values_between_pulses = std::uint32_t{1} << 16U;

/// Counts values for a pulse.
class pulse_counter {
 public:
  explicit pulse_counter(pulse what) : pulse_(std::move(what)) {}
  void count(std::uint64_t values = 1) {
    values_ += values;
    if (values_ < values_between_pulses) return;
    values_ = 0;
    if (pulse_) pulse_();
  }

 private:
  pulse pulse_;
  std::uint64_t values_ = 0;
};

/// Keeps the first `most_written` bytes and one more: a longer document is never sent, and only its excessive length
/// matters.
class cbor_writer {
 public:
  explicit cbor_writer(pulse what = {}) : pulses_(std::move(what)) {}
  void put_unsigned(std::uint64_t value) { head(0, value); }
  void put_integer(std::int64_t value);
  void put_bool(bool value) { byte(value ? 0xf5 : 0xf4); }
  void put_null() { byte(0xf6); }
  void put_bytes(std::span<const std::byte> bytes);
  /// Writes a text string if the bytes are UTF-8, otherwise a byte string: names come from untrusted files.
  void put_text(std::string_view text);
  /// `count` elements follow.
  void begin_array(std::size_t count) { head(4, count); }
  /// `count` pairs follow.
  void begin_map(std::size_t count) { head(5, count); }

  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 protected:
  [[nodiscard]] pulse_counter& pulses() { return pulses_; }

 private:
  void byte(unsigned value) {
    if (bytes_.size() <= most_written) bytes_.push_back(static_cast<std::byte>(value));
  }
  void head(unsigned major, std::uint64_t value);
  void append(const void* data, std::size_t size);
  std::vector<std::byte> bytes_;
  pulse_counter pulses_;
};

/// Reads values in order. The first value that is not what the caller expects ends the reading: all further values are
/// empty, and `finish` returns what was expected at which byte. The reader trusts no length.
class cbor_reader {
 public:
  explicit cbor_reader(std::span<const std::byte> bytes, pulse what = {})
      : all_(bytes), rest_(bytes), pulses_(std::move(what)) {}

  [[nodiscard]] std::uint64_t get_unsigned(std::uint64_t most = UINT64_MAX);
  [[nodiscard]] std::int64_t get_integer();
  [[nodiscard]] bool get_bool();
  /// Skips a null. False if the next value is not null.
  [[nodiscard]] bool skip_null();
  [[nodiscard]] std::span<const std::byte> get_bytes();
  [[nodiscard]] std::string_view get_text();
  /// The number of elements that follow: never more than the remaining bytes.
  [[nodiscard]] std::size_t begin_array();
  /// Expects exactly `count` pairs.
  void begin_map(std::size_t count);
  /// Expects this key.
  void key(std::string_view expected);
  /// The next key, if several are possible.
  [[nodiscard]] std::string_view get_key() { return get_text(); }

  /// Ends the reading because a value is not valid in its place.
  void give_up(error_code code, std::string why);
  [[nodiscard]] bool fine() const { return fine_; }
  /// An error if something was wrong, or if bytes are left over.
  [[nodiscard]] result<void> finish();

 protected:
  [[nodiscard]] pulse_counter& pulses() { return pulses_; }

 private:
  struct item {
    unsigned major = 8;  ///< 8: none
    std::uint64_t value = 0;
  };
  [[nodiscard]] item head(std::string_view expected, unsigned major);
  [[nodiscard]] item any_head();
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t size);
  void not_there(std::string_view expected);

  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
  bool fine_ = true;
  error failure_;
  pulse_counter pulses_;
};

/// RFC 3629: no surrogates, no overlong sequences.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace mpiacq::agents
