// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reading strings for a visitor that hands them to another thread.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "mpiacq/memory.hpp"

namespace mpiacq {

/// Where `visit_c_strings` reads pages to: several sets of pages, filled in turn.
struct page_sets {
  /// The bytes of one set. With sets of this size a call costs little beside what it moves, and the pages of a set
  /// stay in the processor's cache.
  static constexpr std::size_t bytes_of_set = 256 * read_page_size;
  /// The sets, one behind the other: at least `bytes_of_set` bytes. The caller's.
  std::span<std::byte> memory;
  /// Called when all strings that begin in the pages of one set have been visited, before the next set is filled.
  std::function<void()> passed;
};

/// `visit_c_strings` (memory.hpp) for a visitor that uses texts after its call has returned: a text that stands in
/// `sets.memory` stays there until its set is filled again. Other texts, those that run on into further pages, live as
/// long as the call of the visitor. Memory is read, and the visitor is called, on the caller's thread.
[[nodiscard]] result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                           const string_limits& limits,
                                           const std::function<void(const visited_string&)>& visit,
                                           const page_sets& sets);

}  // namespace mpiacq
