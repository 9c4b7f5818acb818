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
  std::shared_ptr<image> file{};  ///< the very file; null where that is not at hand
  loaded_headers headers{};       ///< where `file` is null: what memory says of it
  target_address entry{};
  std::optional<target_address> dynamic{};  ///< empty in a static program
  target_address interpreter{};             ///< where the kernel put the dynamic linker; null: there is none
  target_address vdso{};
};

/// Where the dynamic linker keeps its `r_debug`: by the program's DT_DEBUG, or, where the program has none to be filled
/// in, by the linker's own symbol `_r_debug`. Empty where there is no dynamic linker, or it has not begun.
[[nodiscard]] result<std::optional<target_address>> find_r_debug(memory_reader& memory, const running_program& program);

/// The program headers where the kernel told the program they are. Empty where they cannot be read there, or are no
/// headers. Errors: those that concern the whole target.
[[nodiscard]] result<std::vector<segment>> loaded_segments(memory_reader& memory, const target_abi& abi,
                                                           const auxiliary_vector& aux);

/// `files` and `memory` must outlive what these give.
[[nodiscard]] std::unique_ptr<module_symbols> symbols_of_program(const target_files& files, memory_reader& memory,
                                                                 const running_program& program);

/// A source of symbols for each entry of the link map; null for those that are among `known`. Build ids are read from
/// memory, all in one or two calls. Errors: only those that concern the whole target.
[[nodiscard]] result<std::vector<std::unique_ptr<module_symbols>>> modules_of(const target_files& files,
                                                                              memory_reader& memory,
                                                                              const running_program& program,
                                                                              std::span<const link_map_entry> entries,
                                                                              std::span<const link_map_entry> known);

}  // namespace mpiacq::elf
