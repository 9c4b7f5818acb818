// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The registers of a stopped thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The general registers of one stopped thread, indexed by the DWARF numbers of its architecture.
///
/// x86-64 (System V ABI, "DWARF Register Number Mapping"): 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to
/// 15 r8 to r15, and 16 the return address, which in the innermost frame is rip. The registers of a 32-bit program have
/// the same numbers, as the kernel gives them to a 64-bit tool; `unwinder` translates them. aarch64 (DWARF for the Arm
/// 64-bit Architecture): 0 to 30 x0 to x30, 31 sp, 32 pc.
struct thread_registers {
  /// The largest number of registers.
  static constexpr std::size_t most = 34;

  thread_id thread;
  std::array<std::uint64_t, most> by_dwarf_number{};
  std::uint8_t count = 0;  ///< the number of valid registers, from the first on
  target_address pc;       ///< the address of the next instruction
  target_address sp;       ///< the stack pointer
};

}  // namespace mpiacq
