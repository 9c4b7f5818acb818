// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core/core_places.hpp"

#include "elf/input_file.hpp"
#include "text/file_name.hpp"

namespace mpiacq::elf {

namespace {

bool is_there(const file_place& place) {
  return input_file::open_below(place.root, place.path).has_value();
}

}  // namespace

std::vector<file_place> core_places::program_places() const {
  return places_of(executable_);
}

std::vector<file_place> core_places::places_of(const std::string& path) const {
  if (options_.executable.empty() || path != executable_) return library_places(path);
  return {{{}, options_.executable, options_.executable}};
}

std::vector<file_place> core_places::library_places(const std::string& name) const {
  std::vector<file_place> places;
  if (name.empty()) return places;
  // The kernel's mark of a removed name. The file may have returned, or be in the other folder.
  constexpr std::string_view mark = " (deleted)";
  std::vector<std::string> names = {name};
  if (name.ends_with(mark)) names.push_back(name.substr(0, name.size() - mark.size()));
  if (!options_.sysroot.empty()) {
    const auto add = [&](const std::string& path) {
      places.push_back({options_.sysroot, path, options_.sysroot + (path.starts_with('/') ? "" : "/") + path});
    };
    for (const std::string& n : names) {
      add(n);
      add(std::string(base::file_name_of(n)));
    }
  }
  // A relative name is relative to the process's working folder, which no core contains.
  for (const std::string& n : names) {
    if (n.starts_with('/')) places.push_back({{}, n, n});
  }
  return places;
}

/// The dynamic linker's name and the kernel's name differ if the path contains links.
std::optional<file_place> core_places::mapped_at(target_address address, const std::string& name) const {
  const std::string mapped = name_at(address);
  if (mapped.empty() || mapped == name) return std::nullopt;
  for (const file_place& place : places_of(mapped)) {
    if (is_there(place)) return place;
  }
  return std::nullopt;
}

std::string core_places::name_at(target_address address) const {
  const core_mapping* mapping = mapping_at(notes_, address);
  return mapping == nullptr ? std::string{} : notes_.paths[mapping->path];
}

std::vector<std::string> core_places::roots() const {
  return options_.sysroot.empty() ? std::vector<std::string>{} : std::vector<std::string>{options_.sysroot};
}

}  // namespace mpiacq::elf
