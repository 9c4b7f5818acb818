// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core_dump/memory_areas.hpp"
#include "mpiacq/process/core_writer.hpp"

namespace mpiacq::elf {

/// `write_core` of a process that `proc` describes: /proc, or a folder that a test has made.
[[nodiscard]] result<written_core> dump_process(const core_process& process, memory_reader& memory, int descriptor,
                                                const core_write_options& options, const std::string& proc);

/// The number of bytes from the beginning of a mapping that a core file should have. An ELF header is looked for in
/// `memory`. Errors: those of the reader.
[[nodiscard]] result<std::uint64_t> wanted_of(const memory_area& area, const core_contents& contents, bool has_details,
                                              std::uint64_t page_size, memory_reader& memory);

}  // namespace mpiacq::elf
