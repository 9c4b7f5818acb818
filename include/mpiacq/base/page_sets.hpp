// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reading strings for a caller that hands them to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// One string whose text stands in the memory of `page_sets`.
struct placed_string {
  const char* text = nullptr;  ///< its first byte
  std::uint32_t index = 0;     ///< of its address in the list asked for
  std::uint32_t length = 0;    ///< without its terminator
};

/// Where `visit_c_strings` reads pages to: several sets of pages, filled in turn.
struct page_sets {
  /// The bytes of one set. With sets of this size a call costs little beside what it moves, and the pages of a set
  /// stay in the processor's cache.
  static constexpr std::size_t bytes_of_set = 256 * read_page_size;
  /// The most strings that are handed over together.
  static constexpr std::size_t most_placed = 8192;

  /// The sets, one behind the other: at least `bytes_of_set` bytes. The caller's.
  std::span<std::byte> memory;
  /// Called with strings of one set: at the latest when all strings that begin in its pages have been found, before
  /// the next set is filled. The vector is empty where a set has no strings left to hand over. The callee takes what
  /// it contains and leaves a vector whose memory can be used again; what is left in that vector is dropped.
  std::function<void(std::vector<placed_string>&)> take;
};

/// `visit_c_strings` (memory.hpp) for a caller that uses texts later. A text that stands in `sets.memory` goes to
/// `sets.take`, and stays there until its set is filled again. `visit` gets all others: strings that cannot be read,
/// and strings that run on into further pages, whose texts live as long as the call. Memory is read, and both
/// functions are called, on the caller's thread.
[[nodiscard]] result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                           const string_limits& limits,
                                           const std::function<void(const visited_string&)>& visit,
                                           const page_sets& sets);

}  // namespace mpiacq
