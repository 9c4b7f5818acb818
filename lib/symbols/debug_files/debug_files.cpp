// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "debug_files/debug_files.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "text/file_name.hpp"

namespace mpiacq::debug_info {

namespace {

/// The table of the reflected polynomial 0xedb88320, which zlib and `.gnu_debuglink` use.
constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr auto crc_table = make_crc_table();

/// The path of the file with this build id below a debug folder.
std::string build_id_name(const std::vector<std::byte>& id) {
  module named;
  named.build_id = id;
  const std::string digits = build_id_text(named);
  return ".build-id/" + digits.substr(0, 2) + "/" + digits.substr(2) + ".debug";
}

/// The possible places of a file with the wanted build id.
std::vector<std::string> places_of_build_id(const debug_file_wanted& wanted, const debug_file_search& search) {
  std::vector<std::string> places;
  // Two digits name the folder, so an id of one byte has no path.
  if (wanted.build_id.size() < 2) return places;
  for (const std::string& folder : search.folders) places.push_back(folder + "/" + build_id_name(wanted.build_id));
  return places;
}

/// The roots of the file systems of the target and of this process.
std::vector<std::string> roots_of(const debug_file_wanted& wanted) {
  std::vector<std::string> roots = {""};
  roots.insert(roots.end(), wanted.roots.begin(), wanted.roots.end());
  return roots;
}

std::vector<std::string> places_of_link(const debug_file_wanted& wanted, const debug_file_search& search) {
  const std::string folder{base::folder_of(wanted.module_path)};
  std::vector<std::string> places = {folder + wanted.link->name, folder + ".debug/" + wanted.link->name};
  for (const std::string& debug_folder : search.folders) {
    places.push_back(
        fmt::format("{}{}{}{}", debug_folder, folder.starts_with('/') ? "" : "/", folder, wanted.link->name));
  }
  return places;
}

/// The path of a file that the module names. A relative name is relative to the module's folder.
std::string path_named_by(const debug_file_wanted& wanted, const std::string& name) {
  return name.starts_with('/') ? name : fmt::format("{}{}", base::folder_of(wanted.module_path), name);
}

/// The file at `place` below `root`, if it exists and belongs to the module. `crc_left`: the bytes that may still be
/// read to compute CRCs; null if only the build id decides.
std::optional<elf::image> open_if_it_fits(const std::string& root, const std::string& place,
                                          const debug_file_wanted& wanted, std::uint64_t* crc_left,
                                          std::vector<error>& problems) {
  const std::string path = root + place;
  auto file = elf::input_file::open_below(root, place, path);
  if (!file) {
    if (file.error().code != error_code::not_found) problems.push_back(std::move(file).error());
    return std::nullopt;
  }
  auto opened = elf::image::open(std::move(*file));
  if (!opened) {
    problems.push_back(std::move(opened).error());
    return std::nullopt;
  }
  const auto id = opened->build_id();
  if (!id.empty() && !wanted.build_id.empty()) {
    if (id == wanted.build_id) return std::move(*opened);
  } else if (crc_left != nullptr) {
    auto crc = crc_of_file(opened->file(), *crc_left);
    if (!crc) {
      problems.push_back(std::move(crc).error());
      return std::nullopt;
    }
    if (*crc == wanted.link->crc) return std::move(*opened);
  }
  // A link may name the module itself or a program of the same name: a file that does not match is skipped.
  if (path != wanted.module_path) {
    problems.push_back(
        error{error_code::bad_format,
              fmt::format("{} is not the debug file of {}: its {} differs, so it is not used", path, wanted.module_path,
                          id.empty() || wanted.build_id.empty() ? "CRC" : "build id")}
            .on(path));
  }
  return std::nullopt;
}

}  // namespace

result<std::uint32_t> crc_of_file(const elf::input_file& file, std::uint64_t& left) {
  if (file.size() > left) {
    return fail(
        error{error_code::limit, fmt::format("{} has {} bytes: too many to compute its CRC, without which it is "
                                             "not known to be the right debug file",
                                             file.name(), file.size())}
            .on(file.name()));
  }
  left -= file.size();
  TRY(file.check_is_stored(0, file.size()));
  std::vector<std::byte> piece(1U << 16);
  std::uint32_t crc = 0xffffffffU;
  for (std::uint64_t offset = 0; offset < file.size();) {
    auto got = TRY(file.read_some(offset, piece));
    if (got == 0) break;
    for (std::size_t i = 0; i < got; ++i) {
      crc = crc_table[(crc ^ std::to_integer<std::uint32_t>(piece[i])) & 0xff] ^ (crc >> 8);
    }
    offset += got;
  }
  return crc ^ 0xffffffffU;
}

std::optional<elf::image> find_debug_file(const debug_file_wanted& wanted, const debug_file_search& search,
                                          std::vector<error>& problems) {
  const auto roots = roots_of(wanted);
  std::vector<error> why;  // used only if no file matches
  std::uint64_t crc_left = most_crc_bytes;
  for (const std::string& root : roots) {
    for (const std::string& place : places_of_build_id(wanted, search)) {
      if (auto found = open_if_it_fits(root, place, wanted, nullptr, why)) return found;
    }
  }
  for (const std::string& root : roots) {
    if (!wanted.link) break;
    for (const std::string& place : places_of_link(wanted, search)) {
      if (auto found = open_if_it_fits(root, place, wanted, &crc_left, why)) return found;
    }
  }
  problems.insert(problems.end(), why.begin(), why.end());
  return std::nullopt;
}

std::optional<elf::image> find_shared_debug_file(const debug_file_wanted& wanted, const std::string& name,
                                                 const debug_file_search& search) {
  auto places = places_of_build_id(wanted, search);
  places.push_back(path_named_by(wanted, name));
  std::vector<error> not_found_is_told_once;
  for (const std::string& root : roots_of(wanted)) {
    for (const std::string& place : places) {
      if (auto found = open_if_it_fits(root, place, wanted, nullptr, not_found_is_told_once)) return found;
    }
  }
  return std::nullopt;
}

std::optional<supplement> supplement_of(elf::image& file) {
  constexpr std::uint64_t max_bytes = 65536;
  const auto section = file.find_section(".debug_sup");
  if (!section || !*section || (*section)->size > max_bytes) return std::nullopt;
  const auto contents = file.contents(**section);
  // The section has a version of two bytes, a flag, a name with its terminator, the size of the checksum (LEB128), and
  // the checksum.
  if (!contents || contents->size() < 3) return std::nullopt;
  auto rest = std::span{*contents}.subspan(3);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) return std::nullopt;
  supplement found;
  found.is_supplementary = (*contents)[2] != std::byte{0};
  found.name.assign(reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin()));
  rest = rest.subspan(found.name.size() + 1);
  if (rest.empty()) return found;
  const auto size = std::to_integer<std::size_t>(rest[0]);
  if (size >= 0x80 || size > rest.size() - 1) return std::nullopt;  // no checksum is so long
  found.checksum.assign(rest.begin() + 1, rest.begin() + 1 + static_cast<std::ptrdiff_t>(size));
  return found;
}

std::optional<elf::image> find_supplementary_file(const debug_file_wanted& wanted, const supplement& named) {
  const std::string place = path_named_by(wanted, named.name);
  for (const std::string& root : roots_of(wanted)) {
    auto file = elf::input_file::open_below(root, place);
    if (!file) continue;
    auto opened = elf::image::open(std::move(*file));
    if (!opened) continue;
    const auto other = supplement_of(*opened);
    if (other && other->is_supplementary && other->checksum == named.checksum) return std::move(*opened);
  }
  return std::nullopt;
}

}  // namespace mpiacq::debug_info
