// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core_dump/dump_records.hpp"
#include "core_dump/memory_areas.hpp"
#include "mpiacq/process/core_writer.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq::elf {

/// What the kernel says of a process as a whole, for NT_PRPSINFO and NT_AUXV.
struct process_account {
  std::string name;    ///< at most 15 bytes
  char state = 'R';    ///< as in /proc/PID/stat
  std::string words;   ///< the beginning of its arguments, separated by null bytes
  std::string vector;  ///< the bytes of its auxiliary vector
  std::uint64_t flags = 0;
  std::uint64_t user = 0;
  std::uint64_t user_group = 0;
  std::uint64_t parent = 0;
  std::uint64_t process_group = 0;
  std::uint64_t session = 0;
};
/// Errors: process_gone, permission, system.
[[nodiscard]] result<process_account> read_process_account(const process_folder& process);

struct dump_notes {
  record_writer bytes;
  std::size_t unlisted_files = 0;  ///< mappings of files that the list of files has no room for
};

/// All notes, in the kernel's order: the state of the first thread, the process, its signal, its auxiliary vector, its
/// mapped files, and then the other threads.
[[nodiscard]] dump_notes encode_notes(const target_abi& abi, const core_process& process,
                                      const process_account& account, const memory_areas& areas,
                                      std::uint64_t page_size);

}  // namespace mpiacq::elf
