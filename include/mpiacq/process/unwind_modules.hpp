// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The facts about the modules of a process that an unwinder needs: the addresses of their code and unwind tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// What identifies an ELF file with code. The modules of several processes can share it.
struct unwind_file {
  std::string path;                 ///< as the kernel gives it, without " (deleted)"; "[vdso]" for the vDSO
  std::vector<std::byte> build_id;  ///< empty if the first page has none
  /// Two modules with equal identities, of any processes, have the same bytes as unwind tables. Empty: never equal.
  std::string identity;
};

/// One ELF file with code that a process has mapped. All addresses are run-time addresses.
struct unwind_module {
  std::shared_ptr<const unwind_file> file;  ///< null: nothing is known of it, as in an empty `unwind_file`
  target_address bias;                      ///< run-time address = link-time address + bias
  target_address begin;                     ///< the first address of its first segment
  target_address end;                       ///< the address behind its last segment
  /// Its code: from the first address of its executable segments to the address behind the last of them. Both null: it
  /// has none.
  target_address code_begin;
  target_address code_end;
  /// The segment with the unwind tables. Both null: there are none.
  target_address tables_begin;
  target_address tables_end;
  target_address eh_frame_hdr;          ///< the header with the search table (PT_GNU_EH_FRAME); null if there is none
  std::uint64_t eh_frame_hdr_size = 0;  ///< bytes
  target_address eh_frame;              ///< only if there is no header: the records themselves
  std::uint64_t eh_frame_size = 0;      ///< bytes
};

/// The modules of a process in the order of addresses.
struct unwind_map {
  target_abi abi;  ///< of the modules
  std::vector<unwind_module> modules;
};

/// The modules of a live process at this moment. The mappings come from /proc/PID/maps, so they are right even during a
/// dlopen and before the dynamic linker has run. The rest comes from the program headers in memory, which are read with
/// one call. A file is opened only for a module with code and without PT_GNU_EH_FRAME, because only its section headers
/// say where its `.eh_frame` is. The tables themselves are not read.
///
/// The process should be stopped. A fault of one module leaves that module without tables. Errors: process_gone,
/// permission, unsupported (no module is an ELF file of a known kind).
[[nodiscard]] result<unwind_map> unwind_modules_of(process_id process, memory_reader& memory);
/// The same, with a text that was read before (`read_process_maps`).
[[nodiscard]] result<unwind_map> unwind_modules_in(std::string_view maps, process_id process, memory_reader& memory);

}  // namespace mpiacq
