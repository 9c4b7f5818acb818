// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/module_symbols.hpp"

#include <algorithm>
#include <utility>

#include <elf.h>
#include <fmt/format.h>

#include "elf/file_symbol_table.hpp"

namespace mpiacq::elf {

namespace {

std::string shown(const module& m) {
  return m.path.empty() ? fmt::format("the module at {:#x}", m.bias.value()) : m.path;
}

/// "build id 12ab...", "no build id".
std::string shown_id(const std::vector<std::byte>& id) {
  module named;
  named.build_id = id;
  return id.empty() ? "no build id" : "build id " + build_id_text(named);
}

bool has_table(image* file) {
  if (file == nullptr) return false;
  const auto table = file->find_section(SHT_SYMTAB);
  return table && table->has_value();
}

}  // namespace

module_symbols::parts module_symbols::parts_of_file(std::shared_ptr<image> file, const std::string& path,
                                                    std::vector<std::string> roots) {
  parts of;
  of.facts = std::make_shared<const module>(module{path, target_address{0}, false, file->build_id()});
  of.abi = file->abi();
  of.roots = std::move(roots);
  of.opened = std::move(file);
  return of;
}

result<module_symbols::definitions> module_symbols::find_loaded(std::span<const std::string_view> names,
                                                                std::vector<error>& problems) {
  definitions nothing(names.size());
  if (!parts_.dynamic || (loaded_read_ && !loaded_)) return nothing;
  const auto note = [&](error e) -> result<definitions> {
    if (concerns_whole_target(e)) return fail(std::move(e));
    loaded_.reset();
    loaded_read_ = true;
    problems.push_back(
        std::move(e).while_doing("looking for dynamic symbols of " + shown(*parts_.facts)).on(parts_.facts->path));
    return nothing;
  };
  if (!loaded_read_) {
    auto section = read_dynamic_section(*parts_.memory, parts_.abi, parts_.facts->bias, *parts_.dynamic);
    if (!section) return note(std::move(section).error());
    auto table = dynamic_symbols::read(*parts_.memory, parts_.abi, *section);
    if (!table) return note(std::move(table).error());
    loaded_ = *table;
    loaded_read_ = true;
  }
  auto found = loaded_->find(*parts_.memory, names);
  if (!found) return note(std::move(found).error());
  return found;
}

std::shared_ptr<image> module_symbols::open_right_file(const file_place& place, std::vector<error>& problems) {
  auto file = input_file::open_below(place.root, place.path, place.name);
  if (!file) {
    problems.push_back(std::move(file).error());
    return nullptr;
  }
  auto opened = image::open(std::move(*file));
  if (!opened) {
    problems.push_back(std::move(opened).error());
    return nullptr;
  }
  const sameness verdict = opened->abi() == parts_.abi ? compare(parts_.headers, *opened) : sameness::different;
  if (verdict == sameness::different) {
    problems.push_back(replaced(place, *opened));
    return nullptr;
  }
  if (verdict == sameness::unknown) {
    unchecked_ = error{error_code::unreadable_memory,
                       fmt::format("{} is used without a check that it is the loaded file: its first page, which would "
                                   "show that, is not in memory",
                                   place.name)}
                     .on(parts_.facts->path);
  }
  return std::make_shared<image>(std::move(*opened));
}

error module_symbols::replaced(const file_place& place, image& found) const {
  return error{error_code::bad_format,
               fmt::format("{} was replaced since it was loaded: the file there ({}) is not the loaded one "
                           "({}), and is not used",
                           place.name, shown_id(found.build_id()), shown_id(parts_.facts->build_id))}
      .on(parts_.facts->path);
}

image* module_symbols::file(std::vector<error>& problems) {
  if (!parts_.opened && !file_tried_) {
    file_tried_ = true;
    std::vector<error> why;
    for (const file_place& place : parts_.places) {
      parts_.opened = open_right_file(place, why);
      if (!parts_.opened) continue;
      why.clear();
      break;
    }
    if (!parts_.opened && parts_.last_place) {
      // The failures of this place do not explain why the named file is not the right one.
      std::vector<error> unneeded;
      if (const auto place = parts_.last_place()) parts_.opened = open_right_file(*place, unneeded);
      // A missing name does not matter then; a name that leads to another file may mislead a person.
      if (parts_.opened) std::erase_if(why, [](const error& e) { return e.code != error_code::bad_format; });
    }
    // A file that is opened again has the same problems again.
    if (std::exchange(file_reported_, true)) return parts_.opened.get();
    problems.insert(problems.end(), why.begin(), why.end());
    if (unchecked_) problems.push_back(*unchecked_);
  }
  return parts_.opened.get();
}

std::vector<std::byte> module_symbols::known_build_id(std::vector<error>& problems) {
  if (!parts_.facts->build_id.empty()) return parts_.facts->build_id;
  image* own = file(problems);
  return own == nullptr ? std::vector<std::byte>{} : own->build_id();
}

const debug_info::debug_file_wanted& module_symbols::wanted_debug_file(std::vector<error>& problems) {
  if (!wanted_) {
    wanted_.emplace(debug_info::debug_file_wanted{parts_.facts->path, known_build_id(problems), {}, parts_.roots});
    if (image* own = file(problems)) wanted_->link = own->separate_debug_file();
  }
  return *wanted_;
}

image* module_symbols::debug_file(const debug_file_search& search, std::vector<error>& problems) {
  if (!debug_file_tried_) {
    debug_file_tried_ = true;
    if (!parts_.places.empty() || parts_.opened) {
      debug_file_ = debug_info::find_debug_file(wanted_debug_file(problems), search, problems);
    }
  }
  return debug_file_ ? &*debug_file_ : nullptr;
}

image* module_symbols::served_debug_file(const debug_file_search& search, std::vector<error>& problems) {
  if (!search.debuginfod) return nullptr;
  if (!served_tried_) {
    served_tried_ = true;
    auto answer = debug_info::ask_debuginfod(known_build_id(problems));
    if (answer) {
      served_ = std::move(*answer);
    } else {
      problems.push_back(std::move(answer).error().on(parts_.facts->path));
    }
  }
  return served_ ? &*served_ : nullptr;
}

void module_symbols::close_files() {
  const bool can_be_opened_again = !parts_.places.empty() || parts_.last_place;
  if (!can_be_opened_again) return;
  // The absence of a debug file is remembered.
  if (parts_.opened) file_tried_ = false;
  parts_.opened.reset();
  if (debug_file_) debug_file_tried_ = false;
  debug_file_.reset();
}

module_symbols::definitions module_symbols::find_in(const opening& open, remembered& cache,
                                                    std::span<const std::string_view> names,
                                                    std::vector<error>& problems) {
  definitions found(names.size());
  std::vector<std::string_view> unknown;
  std::copy_if(names.begin(), names.end(), std::back_inserter(unknown),
               [&](std::string_view name) { return !cache.contains(std::string{name}); });
  if (!unknown.empty()) {
    image* where = open();
    if (where == nullptr) return found;
    auto read = find_in_symbol_table(*where, unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      cache[std::string{unknown[i]}] = read ? (*read)[i] : std::optional<definition>{};
    }
    if (!read) problems.push_back(std::move(read).error());
  }
  for (std::size_t i = 0; i < names.size(); ++i) found[i] = cache[std::string{names[i]}];
  return found;
}

module_symbols::definitions module_symbols::find_in_file(std::span<const std::string_view> names,
                                                         std::vector<error>& problems) {
  if (has_symbol_table_ && !*has_symbol_table_) return definitions(names.size());
  return find_in([&] { return file(problems); }, in_file_, names, problems);
}

module_symbols::definitions module_symbols::find_in_debug_file(std::span<const std::string_view> names,
                                                               const debug_file_search& search,
                                                               std::vector<error>& problems) {
  return find_in([&] { return debug_file(search, problems); }, in_debug_file_, names, problems);
}

module_symbols::definitions module_symbols::find_in_served_file(std::span<const std::string_view> names,
                                                                const debug_file_search& search,
                                                                std::vector<error>& problems) {
  return find_in([&] { return served_debug_file(search, problems); }, in_served_, names, problems);
}

bool module_symbols::has_symbol_table(std::vector<error>& problems) {
  if (!has_symbol_table_) has_symbol_table_ = has_table(file(problems));
  return *has_symbol_table_;
}

void module_symbols::note_what_its_file_has(std::vector<error>& problems) {
  if (!has_symbol_table(problems)) (void)wanted_debug_file(problems);
}

bool module_symbols::is_stripped(const debug_file_search& search, std::vector<error>& problems) {
  return !has_symbol_table(problems) && !has_table(debug_file(search, problems));
}

}  // namespace mpiacq::elf
