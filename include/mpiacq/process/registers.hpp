// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The registers of a stopped thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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
  /// The largest number of bytes in `prstatus_registers`, and in `floating_point`.
  static constexpr std::size_t most_set_bytes = 1024;

  thread_id thread;
  std::array<std::uint64_t, most> by_dwarf_number{};
  std::uint8_t count = 0;  ///< the number of valid registers, from the first on
  target_address pc;       ///< the address of the next instruction
  target_address sp;       ///< the stack pointer

  /// All general and control registers as the kernel lays them out for this program: the register set NT_PRSTATUS of
  /// ptrace(2), PTRACE_GETREGSET, which core(5) files contain. `user_regs_struct` of sys/user.h describes it for a
  /// 64-bit program (x86-64: 216 bytes, with eflags, the segments, fs_base, gs_base and orig_rax; aarch64: 272 bytes,
  /// with pstate). A 32-bit program on x86-64 has 17 words of 4 bytes. Empty in registers that no kernel has given, for
  /// example those of a caller's frame.
  std::vector<std::byte> prstatus_registers;

  /// The floating-point registers in the same way: the register set NT_PRFPREG (x86-64: 512 bytes,
  /// `user_fpregs_struct`; aarch64: 528 bytes, `user_fpsimd_struct`; a 32-bit program on x86-64: 108 bytes). Empty
  /// unless the caller has asked for them (`register_sets::with_floating_point`).
  std::vector<std::byte> floating_point;
};

}  // namespace mpiacq
