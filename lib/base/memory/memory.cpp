// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace mpiacq {

namespace {

tl::unexpected<error> unreadable(target_address where) {
  return fail(
      error{error_code::unreadable_memory, fmt::format("memory at {:#x} cannot be read", where.value())}.at(where));
}

/// The number of bytes from `address` to the end of its page.
std::size_t rest_of_page(target_address address) {
  return read_page_size - static_cast<std::size_t>(address.value() % read_page_size);
}

}  // namespace

result<void> read_exact(memory_reader& memory, target_address address, std::span<std::byte> into) {
  if (into.empty()) return {};
  memory_range range{address, into};
  if (auto read = memory.read_ranges({&range, 1}); !read) return read;
  if (range.got < into.size()) return unreadable(address + range.got);
  return {};
}

result<std::uint64_t> read_unsigned(memory_reader& memory, const target_abi& abi, target_address address,
                                    std::size_t size) {
  std::array<std::byte, 8> bytes{};
  if (size == 0 || size > bytes.size()) {
    return fail(error{error_code::invalid_argument, fmt::format("an integer of {} bytes cannot be read", size)});
  }
  const std::span<std::byte> wanted{bytes.data(), size};
  if (auto read = read_exact(memory, address, wanted); !read) return fail(std::move(read).error());
  return decode_unsigned(wanted, abi.order);
}

result<std::int64_t> read_signed(memory_reader& memory, const target_abi& abi, target_address address,
                                 std::size_t size) {
  return read_unsigned(memory, abi, address, size).map([size](std::uint64_t value) {
    if (size >= 8) return static_cast<std::int64_t>(value);
    const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(size);
    return static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
  });
}

result<target_address> read_pointer(memory_reader& memory, const target_abi& abi, target_address address) {
  return read_unsigned(memory, abi, address, abi.pointer_size).map([](std::uint64_t v) { return target_address{v}; });
}

result<std::string> read_c_string(memory_reader& memory, target_address address, std::size_t max_bytes) {
  std::string text;
  std::array<std::byte, read_page_size> page{};
  while (text.size() <= max_bytes) {
    const target_address next = address + text.size();
    // One byte more than the limit, so that the terminator of a string of exactly max_bytes is read.
    const std::size_t wanted = std::min(rest_of_page(next), max_bytes + 1 - text.size());
    memory_range range{next, {page.data(), wanted}};
    if (auto read = memory.read_ranges({&range, 1}); !read) return fail(std::move(read).error());
    const auto* begin = reinterpret_cast<const char*>(page.data());
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, range.got));
    if (end != nullptr) return text.append(begin, end);
    text.append(begin, range.got);
    if (range.got < wanted) return unreadable(next + range.got);
  }
  return fail(error{error_code::limit,
                    fmt::format("the string at {:#x} has no end within {} bytes", address.value(), max_bytes)}
                  .at(address));
}

}  // namespace mpiacq
