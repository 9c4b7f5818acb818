// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// The checked offsets of the fields of a process descriptor in bytes: each field lies within `stride`.
struct descriptor {
  std::size_t stride = 0;     ///< from one entry to the next
  std::size_t needed = 0;     ///< bytes of an entry up to the end of its last field
  std::size_t host_name = 0;  ///< offsets
  std::size_t executable_name = 0;
  std::size_t pid = 0;
  std::size_t pid_size = 0;
  bool pid_signed = true;
  std::size_t pointer_size = 0;
  byte_order order = byte_order::little;

  /// No pid needs more than 32 bits with a sign.
  [[nodiscard]] bool narrow_pid() const { return pid_size < 4 || (pid_size == 4 && pid_signed); }
};

/// Finds the structure's fields by name (MPIR 1.1, 9.2). Error: bad_format (it cannot be a process descriptor).
[[nodiscard]] result<descriptor> resolve_descriptor(const target_abi& abi, const structure_layout& layout);

/// The largest number of entries between `base` and the end of the target's address space.
[[nodiscard]] std::uint64_t entries_that_fit(const descriptor& d, target_address base);

/// "host_name at 0, executable_name at 8, pid at 16, 24 bytes each"
[[nodiscard]] std::string describe(const descriptor& d);

/// No Linux kernel assigns a larger pid: PID_MAX_LIMIT of 64-bit kernels.
inline constexpr std::int64_t highest_pid = std::int64_t{1} << 22;
[[nodiscard]] constexpr bool is_plausible_pid(std::int64_t pid) {
  return pid > 0 && pid <= highest_pid;
}

}  // namespace mpiacq
