// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/loaded_objects.hpp"

#include <charconv>
#include <optional>

namespace mpiacq::elf {

namespace {

/// proc(5): "begin-end perms offset device inode   path".
struct mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool readable = false;
  bool executable = false;
  std::uint64_t offset = 0;
  std::string_view file;  ///< device and inode
  bool has_file = false;
  std::string_view path;
};

bool take_hex(std::string_view& text, std::uint64_t& value, char until) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (problem != std::errc{} || used == text.size() || *end != until) return false;
  text.remove_prefix(used + 1);
  return true;
}

std::optional<mapping> parse(std::string_view line) {
  mapping m;
  if (!take_hex(line, m.begin, '-') || !take_hex(line, m.end, ' ') || line.size() < 5) return std::nullopt;
  m.readable = line[0] == 'r' && line[3] == 'p';  // no module is mapped shared
  m.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take_hex(line, m.offset, ' ')) return std::nullopt;
  const std::size_t device = line.find(' ');
  if (device == std::string_view::npos) return std::nullopt;
  const std::size_t inode = std::min(line.find(' ', device + 1), line.size());
  m.file = line.substr(0, inode);
  m.has_file = line.substr(device + 1, inode - device - 1) != "0";
  line.remove_prefix(inode);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  m.path = line;
  return m;
}

std::string_view without_mark(std::string_view path) {
  constexpr std::string_view mark = " (deleted)";
  if (path.ends_with(mark)) path.remove_suffix(mark.size());
  return path;
}

}  // namespace

std::vector<loaded_object> loaded_objects_in(std::string_view maps) {
  constexpr std::string_view vdso = "[vdso]";
  std::vector<loaded_object> found;
  mapping first;  // the last mapping of the beginning of a file
  bool is_wanted = false;
  while (!maps.empty()) {
    const std::size_t length = std::min(maps.find('\n'), maps.size());
    const auto m = parse(maps.substr(0, length));
    maps.remove_prefix(std::min(length + 1, maps.size()));
    if (!m) continue;
    if (m->path == vdso) {
      found.push_back({target_address{m->begin}, target_address{m->end}, std::string(vdso), {}});
      is_wanted = false;
      continue;
    }
    if (m->has_file && m->offset == 0 && m->readable) {
      // A writable copy of the first page is not a second object.
      if (!is_wanted || m->file != first.file) {
        first = *m;
        is_wanted = true;
      }
    } else if (m->has_file && m->file != first.file) {
      is_wanted = false;
    }
    // Some programs move their code into anonymous memory, to get larger pages.
    if (!is_wanted || !m->executable || (!m->has_file && !m->path.empty())) continue;
    found.push_back({target_address{first.begin}, target_address{first.end}, std::string(without_mark(first.path)),
                     std::string(first.file)});
    is_wanted = false;
  }
  return found;
}

}  // namespace mpiacq::elf
