// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The common parts of 64-bit and 32-bit x86 code.
#pragma once

#include <algorithm>
#include <array>

#include "arch/unwind_arch.hpp"

namespace mpiacq::unwinding::arch {

/// x86-64 in compatibility mode, and i386.
extern const architecture i386;

template <std::size_t size>
[[nodiscard]] bool begins_with(std::span<const std::byte> code, const std::array<std::uint8_t, size>& what) {
  return code.size() >= size && std::equal(what.begin(), what.end(), code.begin(),
                                           [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
}

/// The call has pushed its return address: pops it.
[[nodiscard]] result<bool> pop_return_address(const architecture& machine, thread_registers& registers,
                                              memory_reader& memory);

}  // namespace mpiacq::unwinding::arch
