// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/type_catalogue.hpp"
#include "modules/library_search.hpp"
#include "modules/module_symbols.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq {

struct file_symbols::state {
  debug_file_search search;
  elf::loaded_file program;
  std::vector<elf::loaded_file> libraries;
  std::vector<std::shared_ptr<const module>> modules;
  std::vector<std::unique_ptr<elf::module_symbols>> sources;
  std::vector<error> problems;

  void add_module(const elf::loaded_file& file, bool is_executable) {
    auto facts =
        std::make_shared<const module>(module{file.path, target_address{0}, is_executable, file.file->build_id()});
    modules.push_back(facts);
    elf::module_symbols::parts parts;
    parts.facts = std::move(facts);
    parts.abi = file.file->abi();
    parts.memory = file.memory.get();
    parts.dynamic = file.dynamic_address;
    parts.opened = file.file;
    sources.push_back(std::make_unique<elf::module_symbols>(std::move(parts)));
  }
};

file_symbols::file_symbols(std::unique_ptr<state> s) : state_(std::move(s)) {}
file_symbols::~file_symbols() = default;

result<std::unique_ptr<file_symbols>> file_symbols::open(const std::string& path, debug_file_search search) {
  auto program = elf::load_file(path);
  if (!program) return fail(std::move(program).error());
  auto s = std::make_unique<state>();
  s->search = std::move(search);
  s->program = std::move(*program);
  s->libraries = elf::library_search{s->program, elf::ld_so_cache::read()}.all_libraries(s->problems);
  s->add_module(s->program, true);
  for (const elf::loaded_file& library : s->libraries) s->add_module(library, false);
  return std::unique_ptr<file_symbols>(new file_symbols(std::move(s)));
}

const target_abi& file_symbols::abi() const {
  return state_->program.file->abi();
}

std::span<const std::shared_ptr<const module>> file_symbols::modules() const {
  return state_->modules;
}

bool file_symbols::executable_is_stripped() const {
  return state_->sources.front()->is_stripped(state_->search, state_->problems);
}

std::span<const error> file_symbols::problems() const {
  return state_->problems;
}

result<std::vector<std::optional<symbol>>> file_symbols::look_up(std::span<const std::string_view> names,
                                                                 const symbol_scope& scope) {
  return elf::find_in_modules(state_->sources, names, scope, state_->search, state_->problems);
}

result<std::optional<structure_layout>> file_symbols::layout_pointed_to_by(const symbol& variable, const symbol* near) {
  return elf::find_layout(state_->sources, variable, near, state_->search, state_->problems);
}

result<std::optional<structure_layout>> file_symbols::structure_named(std::string_view tag, const symbol& near) {
  return elf::find_structure(state_->sources, tag, near, state_->search, state_->problems);
}

result<std::optional<variable_type>> file_symbols::type_of(const symbol& variable, const symbol* near) {
  return elf::find_type(state_->sources, variable, near, state_->search, state_->problems);
}

memory_reader& file_symbols::initial_memory() {
  return *state_->program.memory;
}

process_types::process_types(file_symbols& symbols, type_catalogue& catalogue, const module* first)
    : state_(new state{
          [s = symbols.state_.get()] { return std::span<const std::unique_ptr<elf::module_symbols>>{s->sources}; },
          *catalogue.state_,
          first,
          {}}) {}

}  // namespace mpiacq
