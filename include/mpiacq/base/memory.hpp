// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading and writing the memory of a target: one virtual function each, and helpers above them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// One piece of the target's memory that a reader reads.
struct memory_range {
  target_address address;     ///< the first address
  std::span<std::byte> into;  ///< the caller's memory that gets the bytes; its size is the number of requested bytes
  std::size_t got = 0;        ///< set by the reader: the number of bytes read from the beginning
};

/// Reads the memory of a process: of a live process, a core file, or a fake in a test.
///
/// It has one virtual function. Typed reads, strings and the page cache are functions and classes above it. Thread: any
/// thread, but only one at a time unless the class says otherwise.
class memory_reader {
 public:
  virtual ~memory_reader() = default;

  /// Reads all ranges in as few system calls as possible, and sets `got` of each. A range that is readable only in part
  /// keeps what comes before the first unreadable byte: if `got < into.size()`, the byte at `address + got` cannot be
  /// read. That is no error. Errors: process_gone, permission. Then nothing can be read from this target, and `got` of
  /// every range is 0.
  [[nodiscard]] virtual result<void> read_ranges(std::span<memory_range> ranges) = 0;
};

/// Writes the memory of a process. A target without a writer (a core file) cannot be written.
class memory_writer {
 public:
  virtual ~memory_writer() = default;
  /// Writes all of `bytes`. An error has the address of the first byte that was not written.
  [[nodiscard]] virtual result<void> write(target_address address, std::span<const std::byte> bytes) = 0;
};

/// The page size of this library's reads, in bytes. It is a power of two that divides every page size in use, so a read
/// within one such page either succeeds completely or fails completely.
inline constexpr std::size_t read_page_size = 4096;

/// Reads exactly `into.size()` bytes. Errors: unreadable_memory with the address of the first unreadable byte; those of
/// `read_ranges`.
[[nodiscard]] result<void> read_exact(memory_reader& memory, target_address address, std::span<std::byte> into);

/// Reads an integer of `size` (1, 2, 4 or 8) bytes in the byte order of the target, extended with zeros. Errors as
/// `read_exact`.
[[nodiscard]] result<std::uint64_t> read_unsigned(memory_reader& memory, const target_abi& abi, target_address address,
                                                  std::size_t size);
/// Reads a signed integer of `size` (1, 2, 4 or 8) bytes. Errors as `read_exact`.
[[nodiscard]] result<std::int64_t> read_signed(memory_reader& memory, const target_abi& abi, target_address address,
                                               std::size_t size);

/// Reads a pointer of the target's width. Errors as `read_exact`.
[[nodiscard]] result<target_address> read_pointer(memory_reader& memory, const target_abi& abi, target_address address);

/// Reads a null-terminated string of at most `max_bytes` bytes, and returns it without its terminator. It is read page
/// by page, so a string that ends on the last mapped page can be read. Errors: unreadable_memory with the address where
/// the readable memory ends; limit if the string is longer than `max_bytes`.
[[nodiscard]] result<std::string> read_c_string(memory_reader& memory, target_address address, std::size_t max_bytes);

/// The outcome for one of many strings.
enum class string_outcome : std::uint8_t {
  ok,
  unreadable,             ///< the address, or a page that the string extends into, cannot be read
  unterminated_at_limit,  ///< the string has no terminator within the limit for one string
  beyond_total            ///< the limit for all strings was reached before this one
};

/// One string as `visit_c_strings` passes it to the visitor.
struct visited_string {
  std::size_t index = 0;  ///< the index of its address in the caller's list
  string_outcome what = string_outcome::ok;
  std::string_view text;      ///< ok: the string without its terminator; valid during the call of the visitor
  target_address stopped_at;  ///< unreadable: the first unreadable byte
};

/// Limits for strings from a foreign process.
struct string_limits {
  std::size_t bytes_each = 32768;                       ///< for one string, without its terminator
  std::uint64_t bytes_in_all = std::uint64_t{1} << 30;  ///< for all strings together; the strings beyond are not read
};

/// Reads many strings in few calls and passes each to `visit` once, in no particular order. Each page on which a string
/// begins is read once, and hundreds of pages are read in one call. The function keeps nothing. An unreadable address
/// affects its own string only. Errors: those of `read_ranges`; then some strings have not been visited.
[[nodiscard]] result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                           const string_limits& limits,
                                           const std::function<void(const visited_string&)>& visit);

/// One string of a batch: `length` bytes at `offset` in `string_batch::bytes`, or why there is none.
struct batched_string {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  string_outcome what = string_outcome::ok;
  target_address stopped_at;  ///< unreadable: the first unreadable byte
};

/// The strings of one call of `read_c_strings`.
struct string_batch {
  std::vector<char> bytes;              ///< the strings one after the other, without terminators
  std::vector<batched_string> strings;  ///< one for each address, in the caller's order
  /// String number `i`; empty if it could not be read. It is valid as long as the batch.
  [[nodiscard]] std::string_view view(std::size_t i) const {
    return {bytes.data() + strings[i].offset, strings[i].length};
  }
};

/// Reads many strings, as `visit_c_strings`, and keeps them.
[[nodiscard]] result<string_batch> read_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                                  const string_limits& limits = {});

/// A reader that keeps whole pages of another reader while the target is stopped, and reads all missing pages of one
/// request in one call. It also remembers which pages cannot be read. Ranges of more than 16 pages bypass the cache, in
/// the same call. Call `forget` before the target runs on.
class page_cache final : public memory_reader {
 public:
  /// `behind` must outlive this object. At most `max_pages` pages are kept; then the older half is dropped.
  explicit page_cache(memory_reader& behind, std::size_t max_pages = 4096);
  ~page_cache() override;
  page_cache(const page_cache&) = delete;
  page_cache& operator=(const page_cache&) = delete;

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;
  /// Drops all pages.
  void forget();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
