// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What an unwinder must know of the modules of a process: where their code is, and where their unwind tables are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// One ELF object that a process has mapped with code in it. All addresses are run-time addresses.
struct unwind_module {
  std::string path;                 ///< as the kernel names the file, without " (deleted)"; "[vdso]"
  target_address bias;              ///< run-time address = link-time address + bias
  target_address begin;             ///< of its first segment
  target_address end;               ///< behind its last one
  std::vector<std::byte> build_id;  ///< empty where its first page holds none
  /// Equal for two modules, of whatever processes, whose unwind tables are the same bytes. Empty: never taken for the
  /// same as another.
  std::string identity;
  /// The segment that the unwind tables are in. Both null: it has none.
  target_address tables_begin;
  target_address tables_end;
  target_address eh_frame_hdr;          ///< the header with the search table (PT_GNU_EH_FRAME); null: there is none
  std::uint64_t eh_frame_hdr_size = 0;  ///< bytes
  target_address eh_frame;              ///< only where there is no header: the records themselves
  std::uint64_t eh_frame_size = 0;      ///< bytes
};

/// The modules of a process, by address.
struct unwind_map {
  target_abi abi;  ///< of the modules
  std::vector<unwind_module> modules;
};

/// What is mapped in a live process at this moment. /proc/PID/maps says where, so that it is right also in the middle
/// of a dlopen and before the dynamic linker has run; the modules' program headers in memory say the rest, all read
/// with one call. A file is opened only for a module with code and no PT_GNU_EH_FRAME: only its section headers know
/// where its `.eh_frame` is. Nothing is read of the tables themselves.
///
/// The process should be stopped. Errors: process_gone, permission, unsupported (no module in it is an ELF file that we
/// know). What cannot be made out of a single module leaves that one without tables.
[[nodiscard]] result<unwind_map> unwind_modules_of(process_id process, memory_reader& memory);
/// The same, where what is mapped has been read already (`read_process_maps`).
[[nodiscard]] result<unwind_map> unwind_modules_in(std::string_view maps, process_id process, memory_reader& memory);

}  // namespace mpiacq
