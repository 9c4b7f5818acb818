// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What differs between processors. One file of each implements it; CMake chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mpiacq/abi.hpp"
#include "mpiacq/memory.hpp"
#include "mpiacq/registers.hpp"

namespace mpiacq::unwinding::arch {

/// Code of this ABI can be walked here.
[[nodiscard]] bool serves(const target_abi& abi);

/// How many registers a walk goes on with, and the numbers of two of them. They are DWARF's and libunwind's.
[[nodiscard]] std::size_t register_count();
[[nodiscard]] std::size_t pc_number();
[[nodiscard]] std::size_t sp_number();
/// Whether a caller's registers are what the tables' rules say and nothing else, so that plain rules can be followed
/// without libunwind.
[[nodiscard]] bool has_plain_rows();

/// How much code the two questions below want to see.
inline constexpr std::size_t code_size = 16;
/// The code begins with the system call by which a signal handler's frame is left.
[[nodiscard]] bool is_signal_return(std::span<const std::byte> code);
/// The code begins with a jump through a pointer, as a stub to a library's function does.
[[nodiscard]] bool is_jump_stub(std::span<const std::byte> code);

/// A thread that has been called and has done nothing since: makes its registers those of its caller. False: its
/// stack cannot be read. An error is the reader's.
[[nodiscard]] result<bool> undo_call(thread_registers& registers, memory_reader& memory);

}  // namespace mpiacq::unwinding::arch
