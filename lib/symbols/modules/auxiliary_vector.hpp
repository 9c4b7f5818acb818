// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::elf {

/// What the kernel told a program when it started it (getauxval(3)). An entry that is not there is 0.
struct auxiliary_vector {
  target_address program_headers;         ///< AT_PHDR
  std::uint64_t program_header_size = 0;  ///< AT_PHENT
  std::uint64_t program_header_count = 0;
  target_address entry;        ///< AT_ENTRY
  target_address interpreter;  ///< AT_BASE: where the dynamic linker was loaded
  target_address vdso;         ///< AT_SYSINFO_EHDR
  target_address path;         ///< AT_EXECFN: where the path is that the program was started by
};

/// Pairs of words as wide as the target's pointers, up to AT_NULL or the end of the bytes.
[[nodiscard]] auxiliary_vector decode_auxiliary_vector(std::span<const std::byte> bytes, const target_abi& abi);

/// /proc/PID/auxv. Errors: process_gone, permission, system.
[[nodiscard]] result<auxiliary_vector> read_auxiliary_vector(process_id pid, const target_abi& abi);

}  // namespace mpiacq::elf
