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

/// The auxiliary vector that the kernel passes to a program at its start (getauxval(3)). A missing entry is 0.
struct auxiliary_vector {
  target_address program_headers;         ///< AT_PHDR
  std::uint64_t program_header_size = 0;  ///< AT_PHENT
  std::uint64_t program_header_count = 0;
  target_address entry;        ///< AT_ENTRY
  target_address interpreter;  ///< AT_BASE: the load address of the dynamic linker
  target_address vdso;         ///< AT_SYSINFO_EHDR
  target_address path;         ///< AT_EXECFN: the address of the path by which the program was started
};

/// Decodes pairs of words of the target's pointer size, up to AT_NULL or the end of the bytes.
[[nodiscard]] auxiliary_vector decode_auxiliary_vector(std::span<const std::byte> bytes, const target_abi& abi);

/// Reads /proc/PID/auxv. Errors: process_gone, permission, system.
[[nodiscard]] result<auxiliary_vector> read_auxiliary_vector(process_id pid, const target_abi& abi);

}  // namespace mpiacq::elf
