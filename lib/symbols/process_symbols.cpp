// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process_symbols.hpp"

#include <algorithm>

#include "link_map.hpp"
#include "module_symbols.hpp"
#include "process_modules.hpp"

namespace mpiacq {

struct process_symbols::state {
  process_id pid;
  memory_reader& memory;
  debug_file_search search;
  elf::running_program program;
  std::vector<elf::link_map_entry> libraries;  ///< of the last refresh, without the executable
  std::optional<target_address> r_brk;
  std::vector<std::shared_ptr<const module>> modules;
  std::vector<std::unique_ptr<elf::module_symbols>> sources;
  std::vector<error> problems;

  [[nodiscard]] result<bool> read_list(bool even_if_being_changed);
  [[nodiscard]] result<bool> take(elf::link_map list);
};

process_symbols::process_symbols(std::unique_ptr<state> s) : state_(std::move(s)) {}
process_symbols::~process_symbols() = default;

result<std::unique_ptr<process_symbols>> process_symbols::open(process_id pid, memory_reader& memory,
                                                               debug_file_search search) {
  auto program = elf::look_at_program(pid, memory);
  if (!program) return fail(std::move(program).error());
  auto s = std::unique_ptr<state>(new state{pid, memory, std::move(search), std::move(*program), {}, {}, {}, {}, {}});
  s->modules.push_back(s->program.facts);
  s->sources.push_back(elf::symbols_of_program(pid, memory, s->program));
  // A process that is attached to at any moment may be in the middle of a dlopen. The list is then read as it is: it
  // grows at its end, and to know nothing but the executable would be worse.
  if (auto read = s->read_list(true); !read) return fail(std::move(read).error());
  return std::unique_ptr<process_symbols>(new process_symbols(std::move(s)));
}

result<bool> process_symbols::state::read_list(bool even_if_being_changed) {
  const auto note = [&](error e) -> result<bool> {
    if (elf::concerns_whole_target(e)) return fail(std::move(e));
    problems.push_back(std::move(e));
    return false;
  };
  auto where = elf::find_r_debug(memory, program);
  if (!where) return note(std::move(where).error());
  if (!*where) return false;  // static, or the dynamic linker has not run yet
  auto head = elf::read_link_map_head(memory, program.file->abi(), **where);
  if (!head) return note(std::move(head).error());
  if (head->breakpoint) r_brk = head->breakpoint;
  if (head->being_changed && !even_if_being_changed) return false;
  auto list = elf::read_link_map(memory, program.file->abi(), *head);
  if (!list) return fail(std::move(list).error());
  return take(std::move(*list));
}

/// Puts a new list in the place of the old one; modules that are in both keep what is known of them.
result<bool> process_symbols::state::take(elf::link_map list) {
  for (error& e : list.problems) {
    const bool told =
        std::any_of(problems.begin(), problems.end(), [&](const error& p) { return p.message == e.message; });
    if (!told) problems.push_back(std::move(e));
  }
  std::erase_if(list.entries, [&](const elf::link_map_entry& e) { return e.dynamic == program.dynamic; });
  if (list.entries == libraries) return false;

  auto fresh = elf::modules_of(pid, memory, program, list.entries, libraries);
  if (!fresh) return fail(std::move(fresh).error());
  std::vector<std::unique_ptr<elf::module_symbols>> sorted;
  sorted.push_back(std::move(sources.front()));
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    if ((*fresh)[i] != nullptr) {
      sorted.push_back(std::move((*fresh)[i]));
      continue;
    }
    const auto old = std::find(libraries.begin(), libraries.end(), list.entries[i]);
    sorted.push_back(std::move(sources[static_cast<std::size_t>(old - libraries.begin()) + 1]));
  }
  sources = std::move(sorted);
  libraries = std::move(list.entries);
  modules.clear();
  for (const auto& source : sources) modules.push_back(source->facts());
  return true;
}

const target_abi& process_symbols::abi() const {
  return state_->program.file->abi();
}

target_address process_symbols::entry_point() const {
  return state_->program.entry;
}

std::optional<target_address> process_symbols::link_map_breakpoint() const {
  return state_->r_brk;
}

result<bool> process_symbols::refresh() {
  return state_->read_list(false);
}

std::span<const std::shared_ptr<const module>> process_symbols::modules() const {
  return state_->modules;
}

bool process_symbols::executable_is_stripped() const {
  return state_->sources.front()->is_stripped(state_->search, state_->problems);
}

bool process_symbols::has_symbol_table(const module& home) const {
  const auto found = std::find_if(state_->sources.begin(), state_->sources.end(),
                                  [&](const auto& source) { return source->facts().get() == &home; });
  return found == state_->sources.end() || (*found)->has_symbol_table(state_->problems);
}

std::span<const error> process_symbols::problems() const {
  return state_->problems;
}

result<std::vector<std::optional<symbol>>> process_symbols::look_up(std::span<const std::string_view> names,
                                                                    const symbol_scope& scope) {
  return elf::find_in_modules(state_->sources, names, scope, state_->search, state_->problems);
}

result<std::optional<structure_layout>> process_symbols::layout_pointed_to_by(const symbol& variable,
                                                                              const symbol* near) {
  return elf::find_layout(state_->sources, variable, near, state_->search, state_->problems);
}

result<std::optional<variable_type>> process_symbols::type_of(const symbol& variable, const symbol* near) {
  return elf::find_type(state_->sources, variable, near, state_->search, state_->problems);
}

}  // namespace mpiacq
