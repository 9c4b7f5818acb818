// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The differences between processors. Each kind of code is one constant in a file of its own; CMake selects the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq::unwinding {

/// One kind of code, with the properties that a walk needs. Register numbers are DWARF's numbers for this kind of code.
struct architecture {
  std::size_t register_count;  ///< the walk follows the registers from 0 to this number, exclusive
  std::size_t pc_number;
  std::size_t sp_number;
  std::size_t word_size;  ///< bytes of an address and of a general register
  /// The rules of the tables alone define a caller's registers, so our own evaluator can follow plain rules without
  /// libunwind.
  bool has_plain_rows;
  /// The libunwind of this machine walks this code. If it does not, our own evaluator follows every rule.
  bool has_libunwind;
  std::uint64_t kept_registers;  ///< bit by number: those that a called function keeps, without the stack pointer

  /// The first registers of a walk, from the registers of a stopped thread as the kernel provides them.
  thread_registers (*registers_of)(const thread_registers& thread);
  /// The code begins with the system call that ends a signal handler, and libunwind knows the frame behind it.
  bool (*is_signal_return)(std::span<const std::byte> code);
  /// The code begins with a jump through a pointer, as a stub of the procedure linkage table does.
  bool (*is_jump_stub)(std::span<const std::byte> code);
  /// For a thread that has executed a call and nothing since: replaces its registers by those of its caller. False: the
  /// stack cannot be read. Errors: those of the reader.
  result<bool> (*undo_call)(thread_registers& registers, memory_reader& memory);

  /// The bits of an address. Addresses and registers are counted modulo this mask plus one.
  [[nodiscard]] std::uint64_t mask() const { return word_size == 4 ? UINT32_MAX : UINT64_MAX; }
};

/// The registers without the kernel's own form of them (`prstatus_registers`), which no walk needs.
[[nodiscard]] inline thread_registers numbered_registers(const thread_registers& thread) {
  thread_registers own;
  own.thread = thread.thread;
  own.by_dwarf_number = thread.by_dwarf_number;
  own.count = thread.count;
  own.pc = thread.pc;
  own.sp = thread.sp;
  return own;
}

namespace arch {

/// The kind of code of the machine that this library was built for.
[[nodiscard]] const architecture& native();
/// The kind of code of a process with this ABI. Null: its stacks are not walked on this machine.
[[nodiscard]] const architecture* of(const target_abi& abi);

/// The number of bytes that `is_signal_return` and `is_jump_stub` need.
inline constexpr std::size_t code_size = 16;

}  // namespace arch

}  // namespace mpiacq::unwinding
