// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "mpiacq/base/error.hpp"

namespace mpiacq::debug_info {

/// The limits on the debug information of one file: memory, counted before libdw allocates it, and steps through
/// entries. libdw itself has no limit, and a few megabytes of debug information can describe millions of units,
/// abbreviations or lines. Thread: any; one object belongs to one thread.
class dwarf_allowance {
 public:
  /// For one file, with the file that it shares and its split units: nearly all of the 300 MB that a file may cost.
  static constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;
  /// For all files of this process together.
  static constexpr std::uint64_t most_memory_of_all = std::uint64_t{1} << 30;
  /// A step takes some 50 ns.
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 25;

  dwarf_allowance() = default;
  ~dwarf_allowance();
  dwarf_allowance(const dwarf_allowance&) = delete;
  dwarf_allowance& operator=(const dwarf_allowance&) = delete;

  /// Takes this many bytes; false if the limit is reached. They count until this object ends.
  [[nodiscard]] bool take(std::uint64_t bytes);
  /// The bytes that one file can still take.
  [[nodiscard]] std::uint64_t left() const { return most_memory - taken_; }
  /// Takes this many steps; false if the limit is reached.
  [[nodiscard]] bool step(std::uint64_t steps = 1);

 private:
  std::uint64_t taken_ = 0;
  std::uint64_t steps_ = 0;
};

/// The error `limit`, with the part of a file's debug information that needs too much memory or time.
[[nodiscard]] tl::unexpected<error> too_expensive(const std::string& file, const std::string& what);

}  // namespace mpiacq::debug_info
