// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/process_types.hpp"

#include <sys/stat.h>

#include "dwarf/type_catalogue.hpp"
#include "errors/try.hpp"

namespace mpiacq {

namespace {

std::optional<elf::file_identity> identity_of(const elf::image& file) {
  struct stat s {};
  if (::fstat(file.file().descriptor(), &s) != 0) return std::nullopt;
  return elf::file_identity{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec,
                            s.st_mtim.tv_nsec};
}

}  // namespace

void type_catalogue_state::note(std::vector<error> found) {
  const std::scoped_lock guard{problems_lock};
  for (error& e : found) {
    if (reported.insert(e.message).second) problems.push_back(std::move(e));
  }
}

std::shared_ptr<elf::file_types> type_catalogue_state::of(elf::module_symbols& m) {
  std::vector<error> found_wrong;
  std::shared_ptr<elf::file_types> types;
  {
    const std::scoped_lock guard{files_lock};
    auto id = m.facts()->build_id;
    if (const auto known = by_build_id.find(id); !id.empty() && known != by_build_id.end()) return known->second;
    const auto file = m.shared_file(found_wrong);
    const auto identity = file ? identity_of(*file) : std::nullopt;
    if (identity) {
      if (const auto known = by_identity.find(*identity); known != by_identity.end()) return known->second;
      types = std::make_shared<elf::file_types>(file, m.facts()->path,
                                                std::vector<std::string>(m.roots().begin(), m.roots().end()));
      const bool has_types = types->has_types(search, found_wrong);
      if (has_types) ++files_read;
      // A file without types is closed, unless a server may have its debug file.
      if (!has_types && !search.debuginfod) types.reset();
      by_identity[*identity] = types;
      if (id.empty()) id = file->build_id();
      if (!id.empty()) by_build_id[id] = types;
    }
  }
  note(std::move(found_wrong));
  return types;
}

type_catalogue::type_catalogue(debug_file_search search) : state_(std::make_unique<type_catalogue_state>()) {
  state_->search = std::move(search);
}
type_catalogue::~type_catalogue() = default;
type_catalogue::type_catalogue(type_catalogue&&) noexcept = default;
type_catalogue& type_catalogue::operator=(type_catalogue&&) noexcept = default;

std::vector<error> type_catalogue::problems() const {
  const std::scoped_lock guard{state_->problems_lock};
  return state_->problems;
}

std::size_t type_catalogue::files_read() const {
  return state_->files_read;
}

process_types::~process_types() = default;

std::optional<structure_layout> process_types::state::ask(elf::module_symbols& m, std::string_view name,
                                                          source_language language) {
  const auto [place, is_new] = known.try_emplace(m.facts());
  if (is_new) {
    place->second = catalogue.of(m);
    m.close_files();  // the catalogue keeps the types once, for all processes
  }
  elf::file_types* types = place->second.get();
  if (types == nullptr) return std::nullopt;
  std::vector<error> found_wrong;
  std::optional<structure_layout> found;
  {
    const std::scoped_lock guard{types->lock};
    found = types->find(name, language, m.facts().get() == first, catalogue.search, found_wrong);
  }
  catalogue.note(std::move(found_wrong));
  return found;
}

result<std::optional<structure_layout>> process_types::type_named(std::string_view type_name,
                                                                  source_language language) {
  const auto modules = state_->modules();
  for (const bool preferred : {true, false}) {
    for (const auto& m : modules) {
      if ((m->facts().get() == state_->first) != preferred) continue;
      if (state_->only != nullptr && m->facts().get() != state_->only) continue;
      if (auto found = state_->ask(*m, type_name, language)) return found;
    }
  }
  return std::nullopt;
}

struct type_file::state {
  std::string path;
  target_abi abi;
  debug_file_search search;
  std::unique_ptr<elf::file_types> types;
  std::vector<error> problems;
};

type_file::type_file(std::unique_ptr<state> s) : state_(std::move(s)) {}
type_file::~type_file() = default;

result<std::unique_ptr<type_file>> type_file::open(const std::string& path, debug_file_search search) {
  auto bytes = TRY(elf::input_file::open(path));
  auto file = TRY(elf::image::open(std::move(bytes)));
  auto s = std::make_unique<state>();
  s->path = path;
  s->abi = file.abi();
  s->search = std::move(search);
  s->types = std::make_unique<elf::file_types>(std::make_shared<elf::image>(std::move(file)), path,
                                               std::vector<std::string>{});
  if (!s->types->has_types(s->search, s->problems)) {
    if (!s->problems.empty()) return fail(std::move(s->problems.front()));
    return fail(
        error{error_code::bad_format, path + " has no types, because it has no debug information (compile it with -g)"}
            .on(path));
  }
  return std::unique_ptr<type_file>(new type_file(std::move(s)));
}

const std::string& type_file::path() const {
  return state_->path;
}

const target_abi& type_file::abi() const {
  return state_->abi;
}

std::span<const error> type_file::problems() const {
  return state_->problems;
}

result<std::optional<structure_layout>> type_file::type_named(std::string_view type_name, source_language language) {
  return state_->types->find(type_name, language, false, state_->search, state_->problems);
}

result<std::optional<structure_layout>> type_chain::type_named(std::string_view type_name, source_language language) {
  for (const auto& part : parts_) {
    if (!part) continue;
    auto found = part->type_named(type_name, language);
    if (!found || *found) return found;
  }
  return std::nullopt;
}

}  // namespace mpiacq
