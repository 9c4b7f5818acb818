// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/elf_image.hpp"
#include "modules/auxiliary_vector.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::elf {

/// A piece of a file that the process had mapped (NT_FILE).
struct core_mapping {
  target_address begin;
  target_address end;         ///< the first address behind it
  std::uint64_t offset = 0;   ///< the offset of `begin` in the file
  std::uint32_t path = 0;     ///< index into `core_notes::paths`
  std::uint32_t loading = 0;  ///< mappings with equal numbers belong to one load of one file
};

/// The contents of a core's notes.
struct core_notes {
  std::optional<process_id> process;  ///< NT_PRPSINFO
  std::optional<process_id> thread;   ///< the first NT_PRSTATUS
  int signal = 0;                     ///< of the first NT_PRSTATUS
  std::string short_name;             ///< NT_PRPSINFO
  std::optional<auxiliary_vector> auxiliary;
  std::vector<core_mapping> mappings;  ///< by address; they do not overlap
  std::vector<std::string> paths;
  std::vector<error> problems;
};

/// Reads all notes and keeps the wanted ones, among others such as the registers of any number of threads. Truncated or
/// inconsistent notes are problems in the answer. Errors: system.
[[nodiscard]] result<core_notes> read_core_notes(const image& core);

/// The mapping that holds an address, or null.
[[nodiscard]] const core_mapping* mapping_at(const core_notes& notes, target_address address);

}  // namespace mpiacq::elf
