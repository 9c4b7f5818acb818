// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq::elf {

/// Whether what is known of a module holds for another process that has the same file at another address. It does not
/// where the unwind tables stand in a segment that is written into when the module is loaded.
[[nodiscard]] bool can_be_moved(const unwind_module& module);
/// The same module `by` bytes farther up (modulo 2^64).
[[nodiscard]] unwind_module moved(unwind_module module, std::uint64_t by);

}  // namespace mpiacq::elf
