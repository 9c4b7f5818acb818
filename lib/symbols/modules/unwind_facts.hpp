// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq::elf {

/// Whether the facts of a module are valid for another process that has the same file at another address. They are not
/// if the unwind tables are in a segment that relocation writes to.
[[nodiscard]] bool can_be_moved(const unwind_module& module);
/// The same module, `by` bytes higher (modulo 2^64).
[[nodiscard]] unwind_module moved(unwind_module module, std::uint64_t by);

}  // namespace mpiacq::elf
