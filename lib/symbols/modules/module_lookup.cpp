// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <elf.h>

#include "dwarf/dwarf_layout.hpp"
#include "dwarf/dwarf_variable.hpp"
#include "errors/try.hpp"
#include "modules/module_symbols.hpp"

namespace mpiacq::elf {

namespace {

symbol as_symbol(std::string_view name, const module_symbols& home, const definition& d) {
  return {std::string{name}, home.facts(), module_offset{d.value}, d.absolute, d.size, d.kind};
}

/// One search for several names: the symbols found so far, and the names that remain.
class search_state {
 public:
  explicit search_state(std::span<const std::string_view> names) : names_(names), found(names.size()) {
    local_.resize(names.size());
  }

  /// The names that no module has defined yet. `take` gets the answers of one table in this order.
  [[nodiscard]] std::vector<std::string_view> missing() {
    asked_.clear();
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (found[i]) continue;
      asked_.push_back(i);
      names.push_back(names_[i]);
    }
    return names;
  }

  void take(const module_symbols& home, const module_symbols::definitions& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) continue;
      auto& into = answers[i]->local ? local_[asked_[i]] : found[asked_[i]];
      if (!into) into = as_symbol(names_[asked_[i]], home, *answers[i]);
    }
  }

  /// A local symbol is used if no module has a global symbol of that name.
  void settle_for_local_ones() {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) found[i] = std::move(local_[i]);
    }
  }

  [[nodiscard]] bool nothing_found() const {
    return std::none_of(found.begin(), found.end(), [](const auto& f) { return f.has_value(); });
  }

 private:
  std::span<const std::string_view> names_;
  std::vector<std::optional<symbol>> local_;
  std::vector<std::size_t> asked_;

 public:
  std::vector<std::optional<symbol>> found;
};

/// A query to one file's DWARF about a variable.
template <class Answer>
using dwarf_question = result<std::optional<Answer>> (*)(image& file, const symbol& variable, const symbol* near,
                                                         const debug_file_search& search,
                                                         std::span<const std::string> roots);

void name_module(structure_layout& layout, const module& home) {
  layout.module_path = home.path;
}
void name_module(variable_type&, const module&) {}

/// The answer from one file's DWARF, marked with its source.
template <class Answer>
result<std::optional<Answer>> ask_file(dwarf_question<Answer> question, image* file, const module_symbols& home,
                                       const symbol& variable, const symbol* near, const debug_file_search& search,
                                       layout_source source) {
  if (file == nullptr) return std::nullopt;
  auto answer = question(*file, variable, near, search, home.roots());
  if (!answer || !*answer) return answer;
  (*answer)->source = source;
  name_module(**answer, *home.facts());
  if (source != layout_source::dwarf) (*answer)->debug_file = file->file().name();
  return answer;
}

/// The answer from one module: from its own file, else its debug file, else a server's debug file.
template <class Answer>
result<std::optional<Answer>> ask_module(dwarf_question<Answer> question, module_symbols& m, const symbol& variable,
                                         const symbol* near, const debug_file_search& search,
                                         std::vector<error>& problems) {
  const auto ask = [&](image* file, layout_source source) {
    return ask_file(question, file, m, variable, near, search, source);
  };
  auto own = ask(m.file(problems), layout_source::dwarf);
  if (own && *own) return own;
  auto separate = ask(m.debug_file(search, problems), layout_source::debug_file);
  if (separate && *separate) return separate;
  auto served = ask(m.served_debug_file(search, problems), layout_source::debuginfod);
  if (served && *served) return served;
  if (!own) return own;
  return separate ? served : separate;
}

template <class Answer>
result<std::optional<Answer>> ask_modules(dwarf_question<Answer> question,
                                          std::span<const std::unique_ptr<module_symbols>> modules,
                                          const symbol& variable, const symbol* near, const debug_file_search& search,
                                          std::vector<error>& problems) {
  const auto source_of = [&](const std::shared_ptr<const module>& home) {
    const auto found = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return m->facts() == home; });
    return found == modules.end() ? nullptr : found->get();  // null: the module has been unloaded since
  };
  module_symbols* home = source_of(variable.home);
  module_symbols* neighbour = near == nullptr ? nullptr : source_of(near->home);
  if (home == nullptr) return std::nullopt;
  auto answer = ask_module(question, *home, variable, home == neighbour ? near : nullptr, search, problems);
  if (!answer || *answer || neighbour == nullptr || neighbour == home) return answer;
  // A program that uses a variable of a library has a copy of it (a copy relocation). Then the source that declares the
  // type belongs to the library, which also has the function.
  return ask_module(question, *neighbour, variable, near, search, problems);
}

}  // namespace

result<std::vector<std::optional<symbol>>> find_in_modules(std::span<const std::unique_ptr<module_symbols>> modules,
                                                           std::span<const std::string_view> names,
                                                           const symbol_scope& scope, const debug_file_search& search,
                                                           std::vector<error>& problems, after_look_up then) {
  search_state state{names};
  const auto in_scope = [&](const module_symbols& m) {
    return scope.only_in == nullptr || m.facts().get() == scope.only_in;
  };
  for (const auto& m : modules) {
    if (!in_scope(*m)) continue;
    const auto missing = state.missing();
    if (missing.empty()) return std::move(state.found);
    auto answers = TRY(m->find_loaded(missing, problems));
    state.take(*m, answers);
  }
  if (scope.loaded_only) return std::move(state.found);
  const auto leave = [&](module_symbols& m) {
    m.note_what_its_file_has(problems);
    if (then == after_look_up::close_files) m.close_files();
  };
  for (const auto& m : modules) {
    if (!in_scope(*m)) continue;
    const auto missing = state.missing();
    if (missing.empty()) break;
    state.take(*m, m->find_in_file(missing, problems));
    leave(*m);
  }
  state.settle_for_local_ones();
  for (const auto& m : modules) {
    if (!in_scope(*m)) continue;
    const auto missing = state.missing();
    if (missing.empty()) break;
    // The table of a debug file has no more symbols than an unstripped file.
    if (!m->has_symbol_table(problems)) state.take(*m, m->find_in_debug_file(missing, search, problems));
    leave(*m);
  }
  state.settle_for_local_ones();
  // A server is asked for one file only, and only if no name has been found: most names are optional, and a download
  // for each missing name would delay every launch.
  if (state.nothing_found() && scope.only_in == nullptr && !modules.empty()) {
    const auto missing = state.missing();
    state.take(*modules.front(), modules.front()->find_in_served_file(missing, search, problems));
    state.settle_for_local_ones();
  }
  return std::move(state.found);
}

result<std::optional<structure_layout>> find_layout(std::span<const std::unique_ptr<module_symbols>> modules,
                                                    const symbol& variable, const symbol* near,
                                                    const debug_file_search& search, std::vector<error>& problems) {
  return ask_modules<structure_layout>(debug_info::read_layout, modules, variable, near, search, problems);
}

result<std::optional<structure_layout>> find_structure(std::span<const std::unique_ptr<module_symbols>> modules,
                                                       std::string_view tag, const symbol& near,
                                                       const debug_file_search& search, std::vector<error>& problems) {
  symbol named = near;
  named.name = tag;
  return ask_modules<structure_layout>(debug_info::read_structure, modules, named, nullptr, search, problems);
}

result<std::optional<variable_type>> find_type(std::span<const std::unique_ptr<module_symbols>> modules,
                                               const symbol& variable, const symbol* near,
                                               const debug_file_search& search, std::vector<error>& problems) {
  return ask_modules<variable_type>(debug_info::read_type, modules, variable, near, search, problems);
}

}  // namespace mpiacq::elf
