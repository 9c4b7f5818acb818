// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a program's file: its segments, sections, symbol tables, debug link and DWARF.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "input_as_file.hpp"
#include "modules/library_search.hpp"
#include "modules/module_symbols.hpp"

using namespace mpiacq;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::input_as_file input{data, size};
  auto loaded = elf::load_file(input.path());
  if (!loaded) return loaded.error().message.empty() ? std::abort(), 0 : 0;

  const debug_file_search nowhere{{}, false};
  elf::module_symbols::parts parts;
  parts.facts = std::make_shared<const module>(module{input.path(), target_address{0}, true, loaded->file->build_id()});
  parts.abi = loaded->file->abi();
  parts.memory = loaded->memory.get();
  parts.dynamic = loaded->dynamic_address;
  parts.opened = loaded->file;
  std::vector<std::unique_ptr<elf::module_symbols>> modules;
  modules.push_back(std::make_unique<elf::module_symbols>(std::move(parts)));

  std::vector<error> problems;
  constexpr std::array<std::string_view, 4> names = {"MPIR_proctable", "MPIR_Breakpoint", "MPIR_proctable_size",
                                                     "none"};
  const auto found = elf::find_in_modules(modules, names, symbol_scope{}, nowhere, problems);
  if (!found || found->size() != names.size()) return 0;
  // Whether or not the symbol is there, its type may be.
  symbol table{"MPIR_proctable", modules[0]->facts(), module_offset{0}, false, 0, symbol_kind::data};
  const symbol* near = (*found)[1] ? &*(*found)[1] : nullptr;
  const auto layout = elf::find_layout(modules, table, near, nowhere, problems);
  if (layout && *layout) fuzz::check_members(**layout);
  return 0;
}
