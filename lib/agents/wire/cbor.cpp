// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/cbor.hpp"

#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

/// The lowest value of a head's five low bits that means a number in the 1, 2, 4 or 8 bytes behind the head.
constexpr unsigned first_one_byte = 24;
constexpr unsigned major_unsigned = 0, major_negative = 1, major_bytes = 2, major_text = 3, major_array = 4,
                   major_map = 5;
constexpr std::byte byte_false{0xf4}, byte_true{0xf5}, byte_null{0xf6};

/// The length of a UTF-8 sequence with this first byte; 0: there is none.
std::size_t sequence_length(unsigned first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

/// Some first bytes restrict the second one: this excludes overlong sequences, surrogates, and invalid code points.
bool second_fits(unsigned first, unsigned second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second <= 0x9f;
  if (first == 0xf0) return second >= 0x90;
  if (first == 0xf4) return second <= 0x8f;
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const std::size_t length = sequence_length(byte_at(0));
    if (length == 0 || length > text.size() - at) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte_at(i) & 0xc0U) != 0x80U) return false;
    }
    if (length > 1 && !second_fits(byte_at(0), byte_at(1))) return false;
    at += length;
  }
  return true;
}

void cbor_writer::append(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  const std::size_t room = most_written + 1 - bytes_.size();
  bytes_.insert(bytes_.end(), first, first + std::min(size, room));
}

void cbor_writer::head(unsigned major, std::uint64_t value) {
  pulses_.count();
  const unsigned high = major << 5U;
  if (value < first_one_byte) return byte(high | static_cast<unsigned>(value));
  const unsigned size_code = value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
  byte(high | (first_one_byte + size_code));
  for (unsigned bits = 8U << size_code; bits != 0; bits -= 8) byte(static_cast<unsigned>(value >> (bits - 8) & 0xffU));
}

void cbor_writer::put_integer(std::int64_t value) {
  if (value >= 0) return head(major_unsigned, static_cast<std::uint64_t>(value));
  head(major_negative, static_cast<std::uint64_t>(-1 - value));
}

void cbor_writer::put_bytes(std::span<const std::byte> bytes) {
  head(major_bytes, bytes.size());
  append(bytes.data(), bytes.size());
}

void cbor_writer::put_text(std::string_view text) {
  head(is_utf8(text) ? major_text : major_bytes, text.size());
  append(text.data(), text.size());
}

void cbor_reader::give_up(error_code code, std::string why) {
  if (!fine_) return;
  fine_ = false;
  failure_ = error{code, fmt::format("{} (byte {} of {})", why, all_.size() - rest_.size(), all_.size())};
  rest_ = {};
}

void cbor_reader::not_there(std::string_view expected) {
  give_up(error_code::bad_format, fmt::format("a message cannot be read: {} is expected there", expected));
}

std::span<const std::byte> cbor_reader::take(std::uint64_t size) {
  if (size > rest_.size()) {
    not_there(fmt::format("{} bytes", size));
    return {};
  }
  const auto taken = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(static_cast<std::size_t>(size));
  return taken;
}

/// Accepts only the majors 0 to 5 in the shortest form.
cbor_reader::item cbor_reader::any_head() {
  pulses_.count();
  if (!fine_ || rest_.empty()) return {};
  const auto first = std::to_integer<unsigned>(rest_.front());
  const unsigned major = first >> 5U;
  const unsigned low = first & 31U;
  if (major > major_map || low > first_one_byte + 3) return {};
  if (low < first_one_byte) {
    rest_ = rest_.subspan(1);
    return {major, low};
  }
  const unsigned size_code = low - first_one_byte;
  const std::size_t size = std::size_t{1} << size_code;
  if (rest_.size() < 1 + size) return {};
  std::uint64_t value = 0;
  for (std::size_t i = 1; i <= size; ++i) value = value << 8U | std::to_integer<std::uint64_t>(rest_[i]);
  const std::uint64_t fits_before = size_code == 0 ? first_one_byte - 1 : (std::uint64_t{1} << (4U << size_code)) - 1;
  if (value <= fits_before) return {};
  rest_ = rest_.subspan(1 + size);
  return {major, value};
}

cbor_reader::item cbor_reader::head(std::string_view expected, unsigned major) {
  const auto before = rest_;
  const item found = any_head();
  if (found.major == major) return found;
  rest_ = before;
  not_there(expected);
  return {};
}

std::uint64_t cbor_reader::get_unsigned(std::uint64_t most) {
  const item found = head("a number", major_unsigned);
  if (found.value <= most) return found.value;
  not_there(fmt::format("a number of at most {}", most));
  return 0;
}

std::int64_t cbor_reader::get_integer() {
  const auto before = rest_;
  const item found = any_head();
  if (found.value <= static_cast<std::uint64_t>(INT64_MAX)) {
    if (found.major == major_unsigned) return static_cast<std::int64_t>(found.value);
    if (found.major == major_negative) return -1 - static_cast<std::int64_t>(found.value);
  }
  rest_ = before;
  not_there("a whole number of 64 bits");
  return 0;
}

bool cbor_reader::get_bool() {
  const bool is_true = !rest_.empty() && rest_.front() == byte_true;
  if (!is_true && (rest_.empty() || rest_.front() != byte_false)) {
    not_there("true or false");
    return false;
  }
  rest_ = rest_.subspan(1);
  return is_true;
}

bool cbor_reader::skip_null() {
  if (rest_.empty() || rest_.front() != byte_null) return false;
  rest_ = rest_.subspan(1);
  return true;
}

std::span<const std::byte> cbor_reader::get_bytes() {
  return take(head("a byte string", major_bytes).value);
}

std::string_view cbor_reader::get_text() {
  const auto before = rest_;
  const item found = any_head();
  if (found.major != major_text && found.major != major_bytes) {
    rest_ = before;
    not_there("a text");
    return {};
  }
  const auto bytes = take(found.value);
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  // Each value has one encoding: UTF-8 must be a text string.
  if (fine_ && is_utf8(text) != (found.major == major_text)) {
    not_there("a text in UTF-8, or a byte string that is not UTF-8");
    return {};
  }
  return text;
}

std::size_t cbor_reader::begin_array() {
  const item found = head("an array", major_array);
  if (found.value <= rest_.size()) return static_cast<std::size_t>(found.value);
  not_there(fmt::format("{} elements", found.value));
  return 0;
}

void cbor_reader::begin_map(std::size_t count) {
  const std::string expected = fmt::format("an object of {} members", count);
  if (head(expected, major_map).value != count) not_there(expected);
}

void cbor_reader::key(std::string_view expected) {
  if (get_text() != expected) not_there(fmt::format("\"{}\"", expected));
}

result<void> cbor_reader::finish() {
  if (fine_ && !rest_.empty()) not_there("the end");
  if (!fine_) return fail(failure_);
  return {};
}

}  // namespace mpiacq::agents
