// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/filled_area.hpp"

#include <algorithm>

namespace mpiacq::mqd_host {

namespace {
/// The pattern is no text, no small number and no pointer. Four of these bytes are -1515870811 as an int.
constexpr std::uint8_t pattern = 0xa5;
/// Known libraries overrun their structures by one or two members; this also catches a whole second structure.
constexpr std::size_t spare = 8192;
}  // namespace

filled_area::filled_area(std::size_t declared) : bytes_(declared + spare, pattern), declared_(declared) {}

void filled_area::prefill() {
  // The spare bytes still have the pattern: an overrun ends the session.
  const std::size_t used = std::min(declared_ + 64, bytes_.size());
  std::memset(bytes_.data(), pattern, used);
}

std::string_view filled_area::text(std::size_t offset, std::size_t most) const {
  if (offset >= bytes_.size() || bytes_[offset] == pattern) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
  return {begin, ::strnlen(begin, std::min(most, bytes_.size() - offset))};
}

bool filled_area::is_untouched(std::size_t offset, std::size_t size) const {
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
  return std::all_of(from, from + static_cast<std::ptrdiff_t>(size), [](std::uint8_t b) { return b == pattern; });
}

bool filled_area::is_all_touched(std::size_t offset, std::size_t size) const {
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
  return std::none_of(from, from + static_cast<std::ptrdiff_t>(size), [](std::uint8_t b) { return b == pattern; });
}

std::size_t filled_area::written_past(std::size_t offset) const {
  // Usually all bytes have the pattern. One comparison of the bytes with themselves, shifted by one, shows that.
  if (bytes_[offset] == pattern &&
      std::memcmp(bytes_.data() + offset, bytes_.data() + offset + 1, bytes_.size() - offset - 1) == 0) {
    return 0;
  }
  std::size_t last = bytes_.size();
  while (last > offset && bytes_[last - 1] == pattern) --last;
  return last - offset;
}

}  // namespace mpiacq::mqd_host
