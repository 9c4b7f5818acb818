// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "auxiliary_vector.hpp"
#include "elf_image.hpp"
#include "link_map.hpp"
#include "module_symbols.hpp"
#include "mpiacq/ids.hpp"

namespace mpiacq::elf {

/// The program that a process runs, as the kernel loaded it.
struct running_program {
  std::shared_ptr<image> file;  ///< through /proc/PID/exe: the very file, also when it has been deleted
  std::shared_ptr<const module> facts;
  target_address entry;
  std::optional<target_address> dynamic;  ///< empty in a static program
  target_address interpreter;             ///< where the kernel put the dynamic linker; null: there is none
  target_address vdso;
};

/// Errors: process_gone, permission, bad_format.
[[nodiscard]] result<running_program> look_at_program(process_id pid, memory_reader& memory);

/// Where the dynamic linker keeps its `r_debug`: by the program's DT_DEBUG, or, where the program has none to be filled
/// in, by the linker's own symbol `_r_debug`. Empty where there is no dynamic linker, or it has not begun.
[[nodiscard]] result<std::optional<target_address>> find_r_debug(memory_reader& memory, const running_program& program);

[[nodiscard]] std::unique_ptr<module_symbols> symbols_of_program(process_id pid, memory_reader& memory,
                                                                 const running_program& program);

/// A source of symbols for each entry of the link map; null for those that are among `known`. Build ids are read from
/// memory, all in one or two calls. Errors: only those that concern the whole process.
[[nodiscard]] result<std::vector<std::unique_ptr<module_symbols>>> modules_of(process_id pid, memory_reader& memory,
                                                                              const running_program& program,
                                                                              std::span<const link_map_entry> entries,
                                                                              std::span<const link_map_entry> known);

}  // namespace mpiacq::elf
