// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "mpiacq/base/error.hpp"

namespace mpiacq::debug_info {

/// What the debug information of one file may cost: memory, counted before libdw takes it, and steps through entries.
/// libdw itself has no bound, and a few megabytes of debug information can describe millions of units, abbreviations or
/// lines. Thread: any, but what it counts belongs to one.
class dwarf_allowance {
 public:
  /// Of one file, with what it shares and its split units: nearly all of what a file may cost, which is 300 MB.
  static constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;
  /// Of all files of this process together.
  static constexpr std::uint64_t most_memory_of_all = std::uint64_t{1} << 30;
  /// A step takes some 50 ns.
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 25;

  dwarf_allowance() = default;
  ~dwarf_allowance();
  dwarf_allowance(const dwarf_allowance&) = delete;
  dwarf_allowance& operator=(const dwarf_allowance&) = delete;

  /// Whether so many more bytes may be taken; they count until this ends.
  [[nodiscard]] bool take(std::uint64_t bytes);
  /// How much one file can still take.
  [[nodiscard]] std::uint64_t left() const { return most_memory - taken_; }
  /// Whether so many more steps may be made.
  [[nodiscard]] bool step(std::uint64_t steps = 1);

 private:
  std::uint64_t taken_ = 0;
  std::uint64_t steps_ = 0;
};

/// `limit`: what of a file's debug information takes more memory, or time, than is allowed.
[[nodiscard]] tl::unexpected<error> too_expensive(const std::string& file, const std::string& what);

}  // namespace mpiacq::debug_info
