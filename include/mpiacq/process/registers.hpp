// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The general registers of one stopped thread, by the numbers that DWARF gives them on its architecture.
///
/// x86-64 (System V ABI, "DWARF Register Number Mapping"): 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to
/// 15 r8 to r15, and 16 the return address, which in the innermost frame is rip. A thread of a 32-bit program has its
/// registers under the same numbers, as the kernel gives them to a 64-bit tool; `unwinder` translates them.
/// aarch64 (DWARF for the Arm 64-bit Architecture): 0 to 30 x0 to x30, 31 sp, 32 pc.
struct thread_registers {
  static constexpr std::size_t most = 34;

  thread_id thread;
  std::array<std::uint64_t, most> by_dwarf_number{};
  std::uint8_t count = 0;  ///< how many of them mean something, from the first on
  target_address pc;       ///< the instruction that runs next
  target_address sp;
};

}  // namespace mpiacq
