// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Strings for a caller that passes them to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// One string whose text is in the memory of `page_sets`.
struct placed_string {
  const char* text = nullptr;  ///< its first byte
  std::uint32_t index = 0;     ///< the index of its address in the caller's list
  std::uint32_t length = 0;    ///< without its terminator
};

/// The memory into which `visit_c_strings` reads pages: several sets of pages, which it fills in turn.
struct page_sets {
  /// The size of one set in bytes. At this size the cost of a call is small compared with the bytes that it moves, and
  /// the pages of a set stay in the processor's cache.
  static constexpr std::size_t bytes_of_set = 256 * read_page_size;
  /// The largest number of strings in one call of `take`.
  static constexpr std::size_t most_placed = 8192;

  /// The sets, one behind the other: at least `bytes_of_set` bytes. The memory belongs to the caller.
  std::span<std::byte> memory;
  /// Called with strings of one set, at the latest before the next set is filled. The vector may be empty. The callee
  /// takes the contents and leaves a vector whose memory can be used again; what it leaves inside is dropped.
  std::function<void(std::vector<placed_string>&)> take;
};

/// `visit_c_strings` (memory.hpp) for a caller that uses the texts later. A text in `sets.memory` goes to `sets.take`
/// and is valid until its set is filled again. `visit` gets all other strings: the unreadable ones, and those that
/// extend into further pages, whose texts are valid during the call. The function reads memory and calls both functions
/// on the caller's thread.
[[nodiscard]] result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                           const string_limits& limits,
                                           const std::function<void(const visited_string&)>& visit,
                                           const page_sets& sets);

}  // namespace mpiacq
