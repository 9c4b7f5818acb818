// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "elf/elf_image.hpp"
#include "modules/auxiliary_vector.hpp"
#include "modules/link_map.hpp"
#include "modules/loaded_headers.hpp"
#include "modules/module_symbols.hpp"
#include "modules/target_files.hpp"

namespace mpiacq::elf {

/// The program of a target, as the kernel loaded it.
struct running_program {
  target_abi abi;
  std::shared_ptr<const module> facts;
  std::shared_ptr<image> file{};  ///< the file of the program; null if it is not available
  loaded_headers headers{};       ///< if `file` is null: the program's headers in memory
  target_address entry{};
  std::optional<target_address> dynamic{};  ///< empty in a static program
  target_address interpreter{};             ///< the load address of the dynamic linker; null: there is none
  target_address vdso{};
};

/// The address of the dynamic linker's `r_debug`: by the program's DT_DEBUG, or, if the program has no DT_DEBUG, by the
/// linker's own symbol `_r_debug`. Empty if there is no dynamic linker, or if it has not begun.
[[nodiscard]] result<std::optional<target_address>> find_r_debug(memory_reader& memory, const running_program& program);

/// The program headers at the address that the kernel passed to the program. Empty if they cannot be read there, or are
/// no headers. Errors: errors that concern the whole target.
[[nodiscard]] result<std::vector<segment>> loaded_segments(memory_reader& memory, const target_abi& abi,
                                                           const auxiliary_vector& aux);

/// `files` and `memory` must outlive the results.
[[nodiscard]] std::unique_ptr<module_symbols> symbols_of_program(const target_files& files, memory_reader& memory,
                                                                 const running_program& program);

/// A source of symbols for each entry of the link map; null for an entry in `known`. Build ids are read from memory,
/// all in one or two calls. Errors: only errors that concern the whole target.
[[nodiscard]] result<std::vector<std::unique_ptr<module_symbols>>> modules_of(const target_files& files,
                                                                              memory_reader& memory,
                                                                              const running_program& program,
                                                                              std::span<const link_map_entry> entries,
                                                                              std::span<const link_map_entry> known);

}  // namespace mpiacq::elf
