// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "columns/column.hpp"
#include "columns/string_pool.hpp"

namespace mpiacq::mpi2dd {

/// Hashes a number from a foreign process. The seed differs from run to run, so that a process cannot prepare numbers
/// that collide.
[[nodiscard]] std::uint64_t scatter(std::uint64_t value);

/// Distinct strings, numbered in the order in which they are added. Views stay valid when strings are added.
class interned_strings {
 public:
  std::uint32_t number(std::string_view text);
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const;
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
    return {entries_[number].text, entries_[number].length};
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct entry {
    const char* text = nullptr;
    std::uint32_t length = 0;
    std::uint32_t hash = 0;
  };
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  column<entry> entries_;
  text_blocks texts_;
  std::vector<std::uint32_t> slots_;  // number + 1, 0 where empty
};

/// An index of the processes by host and pid, which are in the columns.
class process_index {
 public:
  /// The process of this host and pid. If there is none, adds `otherwise` and returns it.
  std::uint32_t find_or_add(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids, std::uint32_t host,
                            std::int32_t pid, std::uint32_t otherwise);
  [[nodiscard]] std::optional<std::uint32_t> find(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids,
                                                  std::uint32_t host, std::int32_t pid) const;

 private:
  [[nodiscard]] std::size_t slot_of(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids,
                                    std::uint32_t host, std::int32_t pid) const;
  void grow(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids);

  std::vector<std::uint32_t> slots_;  // number + 1, 0 where empty
  std::size_t count_ = 0;
};

}  // namespace mpiacq::mpi2dd
