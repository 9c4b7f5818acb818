// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// One piece of target memory that a reader is asked for.
struct memory_range {
  target_address address;     ///< where it begins
  std::span<std::byte> into;  ///< where it goes; the caller's, its size is the number of bytes wanted
  std::size_t got = 0;        ///< set by the reader: so many bytes from the beginning were read
};

/// Reads a process's memory, wherever that is: a live process, a core file, a fake in a test.
///
/// One virtual call; everything that can be written once stands below as functions over it.
/// Thread: any; one object is not shared by threads at the same time unless its class says so.
class memory_reader {
 public:
  virtual ~memory_reader() = default;

  /// Reads all ranges in as few system calls as there can be, and sets `got` of each. A range that could be read only
  /// in part keeps what came before the first unreadable byte: `got < into.size()` says that `address + got` cannot be
  /// read. That is no error. An error is that nothing can be read from this target any more, or ever (process_gone,
  /// permission); `got` of every range then is 0.
  [[nodiscard]] virtual result<void> read_ranges(std::span<memory_range> ranges) = 0;
};

/// Writes a process's memory. Where a target has none (a core file), it cannot be written.
class memory_writer {
 public:
  virtual ~memory_writer() = default;
  /// Writes all of `bytes`, or gives an error with the address of the first byte that could not be written.
  [[nodiscard]] virtual result<void> write(target_address address, std::span<const std::byte> bytes) = 0;
};

/// The bytes of a page in this library's reads. It need not be the target's page size: it is a power of two that
/// divides every page size in use, so that a read within one such page either works whole or not at all.
inline constexpr std::size_t read_page_size = 4096;

/// Reads exactly `into.size()` bytes, or gives unreadable_memory with the address of the first byte that is not there.
[[nodiscard]] result<void> read_exact(memory_reader& memory, target_address address, std::span<std::byte> into);

/// One integer of `size` (1, 2, 4 or 8) bytes in the target's byte order.
[[nodiscard]] result<std::uint64_t> read_unsigned(memory_reader& memory, const target_abi& abi, target_address address,
                                                  std::size_t size);
[[nodiscard]] result<std::int64_t> read_signed(memory_reader& memory, const target_abi& abi, target_address address,
                                               std::size_t size);

/// A pointer of the target's width.
[[nodiscard]] result<target_address> read_pointer(memory_reader& memory, const target_abi& abi, target_address address);

/// A null-terminated string of at most `max_bytes` bytes without its terminator. It is read page by page, so that one
/// which ends on the last mapped page is read and one which runs off it is an error (unreadable_memory, with the
/// address where memory ends). Longer than `max_bytes`: limit.
[[nodiscard]] result<std::string> read_c_string(memory_reader& memory, target_address address, std::size_t max_bytes);

/// What became of one string that was asked for among many.
enum class string_outcome : std::uint8_t {
  ok,
  unreadable,             ///< its address, or a page that it runs into, cannot be read
  unterminated_at_limit,  ///< no terminator within the limit of one string
  beyond_total            ///< all strings together passed their limit before this one
};

/// One string as `visit_c_strings` hands it over.
struct visited_string {
  std::size_t index = 0;  ///< of its address in the list asked for
  string_outcome what = string_outcome::ok;
  std::string_view text;      ///< ok: the string without its terminator; lives as long as the call of the visitor
  target_address stopped_at;  ///< unreadable: the first byte that is not there
};

/// Bounds on what many strings out of a foreign process may cost.
struct string_limits {
  std::size_t bytes_each = 32768;                       ///< of one string, without its terminator
  std::uint64_t bytes_in_all = std::uint64_t{1} << 30;  ///< of all strings; those past it are not read
};

/// Reads many strings in few calls, and hands each to `visit` once, in no particular order: neighbouring ones share the
/// pages they stand on, a page on which a string begins is read once, and hundreds of pages go into one call. Nothing
/// is kept: what a million copies of one string cost is up to the visitor. An address that cannot be read
/// spoils its own string only. The whole is an error only where `read_ranges` is; strings then remain unvisited.
[[nodiscard]] result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                           const string_limits& limits,
                                           const std::function<void(const visited_string&)>& visit);

/// One string of a batch: `length` bytes at `offset` of the batch's `bytes`, or why there is none.
struct batched_string {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  string_outcome what = string_outcome::ok;
  target_address stopped_at;  ///< unreadable: the first byte that is not there
};

struct string_batch {
  std::vector<char> bytes;              ///< the strings one after the other, without terminators
  std::vector<batched_string> strings;  ///< one for each address asked for, in that order
  [[nodiscard]] std::string_view view(std::size_t i) const {
    return {bytes.data() + strings[i].offset, strings[i].length};
  }
};

/// `visit_c_strings` with the strings kept.
[[nodiscard]] result<string_batch> read_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                                  const string_limits& limits = {});

/// A reader that remembers whole pages of the one behind it for as long as a stop lasts, and reads the missing
/// pages of one request in one call. That a page cannot be read is remembered too. Ranges of more than 16 pages are
/// bulk data: they go past the cache, in the same call. Whoever lets the target run calls `forget()` first.
class page_cache final : public memory_reader {
 public:
  /// `behind` must outlive this. At most `max_pages` pages are kept; beyond that the oldest half goes.
  explicit page_cache(memory_reader& behind, std::size_t max_pages = 4096);
  ~page_cache() override;
  page_cache(const page_cache&) = delete;
  page_cache& operator=(const page_cache&) = delete;

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;
  /// Drops everything: the target has run, or is about to.
  void forget();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
