// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/process_symbols.hpp"

#include <algorithm>

#include "dwarf/type_catalogue.hpp"
#include "errors/try.hpp"
#include "modules/process_files.hpp"
#include "modules/running_modules.hpp"

namespace mpiacq {

struct process_symbols::state {
  elf::process_files files;
  elf::running_modules list;

  state(process_id pid, memory_reader& memory, elf::running_program program, debug_file_search search)
      : files(pid), list(std::move(program), memory, files, std::move(search)) {}
};

process_symbols::process_symbols(std::unique_ptr<state> s) : state_(std::move(s)) {}
process_symbols::~process_symbols() = default;

result<std::unique_ptr<process_symbols>> process_symbols::open(process_id pid, memory_reader& memory,
                                                               debug_file_search search) {
  std::vector<error> problems;
  auto program = TRY(elf::look_at_process(pid, memory, problems));
  auto s = std::make_unique<state>(pid, memory, std::move(program), std::move(search));
  s->list.problems() = std::move(problems);
  // An attach can interrupt a dlopen at any moment. The list is then read as it is: it grows at its end, and the
  // alternative is to know only the executable.
  TRY(s->list.read_list(true));
  return std::unique_ptr<process_symbols>(new process_symbols(std::move(s)));
}

const target_abi& process_symbols::abi() const {
  return state_->list.program().abi;
}

target_address process_symbols::entry_point() const {
  return state_->list.program().entry;
}

std::optional<target_address> process_symbols::link_map_breakpoint() const {
  return state_->list.link_map_breakpoint();
}

result<bool> process_symbols::refresh() {
  return state_->list.read_list(false);
}

std::span<const std::shared_ptr<const module>> process_symbols::modules() const {
  return state_->list.modules();
}

bool process_symbols::executable_is_stripped() const {
  return state_->list.executable_is_stripped();
}

bool process_symbols::has_symbol_table(const module& home) const {
  const auto sources = state_->list.sources();
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const auto& source) { return source->facts().get() == &home; });
  return found == sources.end() || (*found)->has_symbol_table(state_->list.problems());
}

std::span<const error> process_symbols::problems() const {
  return state_->list.problems();
}

result<std::vector<std::optional<symbol>>> process_symbols::look_up(std::span<const std::string_view> names,
                                                                    const symbol_scope& scope) {
  elf::running_modules& l = state_->list;
  // The files are closed, because a process can have a hundred of them, and a job many processes.
  return elf::find_in_modules(l.sources(), names, scope, l.search(), l.problems(), elf::after_look_up::close_files);
}

result<std::optional<structure_layout>> process_symbols::layout_pointed_to_by(const symbol& variable,
                                                                              const symbol* near) {
  elf::running_modules& l = state_->list;
  return elf::find_layout(l.sources(), variable, near, l.search(), l.problems());
}

result<std::optional<structure_layout>> process_symbols::structure_named(std::string_view tag, const symbol& near) {
  elf::running_modules& l = state_->list;
  return elf::find_structure(l.sources(), tag, near, l.search(), l.problems());
}

result<std::optional<variable_type>> process_symbols::type_of(const symbol& variable, const symbol* near) {
  elf::running_modules& l = state_->list;
  return elf::find_type(l.sources(), variable, near, l.search(), l.problems());
}

process_types::process_types(process_symbols& symbols, type_catalogue& catalogue, const module* first)
    : state_(new state{[s = symbols.state_.get()] { return s->list.sources(); }, *catalogue.state_, first, {}}) {}

std::unique_ptr<process_types> process_types::of_module(process_symbols& symbols, type_catalogue& catalogue,
                                                        const module& one) {
  auto made = std::make_unique<process_types>(symbols, catalogue);
  made->state_->only = &one;
  return made;
}

}  // namespace mpiacq
