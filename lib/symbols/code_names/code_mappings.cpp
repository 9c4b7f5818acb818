// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/code_mappings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <sys/sysmacros.h>

#include "errors/try.hpp"
#include "mpiacq/process/process_maps.hpp"

namespace mpiacq {

namespace {

/// Removes fields from the beginning of a line.
class line_reader {
 public:
  explicit line_reader(std::string_view line) : rest_(line) {}

  std::optional<std::uint64_t> number(int base, char after) {
    std::uint64_t value = 0;
    const char* end = rest_.data() + rest_.size();
    const auto [at, failure] = std::from_chars(rest_.data(), end, value, base);
    if (failure != std::errc{} || at == end || *at != after) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(at - rest_.data()) + 1);
    return value;
  }
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return taken;
  }
  std::string_view path() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }

 private:
  std::string_view rest_;
};

/// Decodes the newline, the only character that the kernel escapes.
std::string with_line_ends(std::string_view path) {
  std::string plain{path};
  for (std::size_t at = 0; (at = plain.find("\\012", at)) != std::string::npos; ++at) plain.replace(at, 4, "\n");
  return plain;
}

std::shared_ptr<elf::mapped_file> file_of(std::string_view path, std::uint64_t device, std::uint64_t inode) {
  constexpr std::string_view mark = " (deleted)";
  const bool deleted = path.ends_with(mark);
  if (deleted) path.remove_suffix(mark.size());
  auto file = std::make_shared<elf::mapped_file>();
  file->path = with_line_ends(path);
  file->is_deleted = deleted;
  file->device = device;
  file->inode = inode;
  return file;
}

struct maps_line {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_code = false;
  std::string_view path;
};

/// "7f12ab400000-7f12ab5d0000 r-xp 00026000 fe:01 1234    /usr/lib/libc.so.6"
std::optional<maps_line> decode_line(std::string_view text) {
  line_reader line{text};
  const auto begin = line.number(16, '-');
  const auto end = begin ? line.number(16, ' ') : std::nullopt;
  if (!end || *end <= *begin) return std::nullopt;
  const std::string_view rights = line.word();
  const auto offset = line.number(16, ' ');
  const auto major = offset ? line.number(16, ':') : std::nullopt;
  const auto minor = major ? line.number(16, ' ') : std::nullopt;
  if (!minor || rights.size() != 4) return std::nullopt;
  maps_line decoded{*begin, *end, *offset, 0, 0, rights[2] == 'x', {}};
  decoded.device = makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
  const std::string_view inode = line.word();
  std::from_chars(inode.data(), inode.data() + inode.size(), decoded.inode);
  decoded.path = line.path();
  return decoded;
}

}  // namespace

std::shared_ptr<elf::code_names> elf::kept_names::of(const std::shared_ptr<const void>& catalogue) const {
  const std::scoped_lock guard{lock_};
  return catalogue_ == catalogue ? names_ : nullptr;
}

void elf::kept_names::keep(std::shared_ptr<const void> catalogue, std::shared_ptr<code_names> names) {
  const std::scoped_lock guard{lock_};
  catalogue_ = std::move(catalogue);
  names_ = std::move(names);
}

elf::code_mappings elf::decode_mappings(std::string_view text) {
  code_mappings found;
  std::optional<maps_line> first;  // of the current file: the mappings of a file are consecutive
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto line = decode_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line) continue;
    const bool has_file = line->inode != 0 || line->path == "[vdso]";
    const bool goes_on =
        first && first->device == line->device && first->inode == line->inode && first->path == line->path;
    if (has_file && !goes_on && line->offset == 0) first = line;
    if (!line->is_code) continue;
    code_mapping mapping{line->begin, line->end, line->offset, code_mapping::no_file};
    if (has_file) {
      const auto same = [&](const mapped_file& f) {
        return f.device == line->device && f.inode == line->inode && (f.inode != 0 || f.path == line->path);
      };
      // The mappings of one file are neighbours, except for a second load by dlmopen.
      if (found.files.empty() || !same(*found.files.back())) {
        found.files.push_back(file_of(line->path, line->device, line->inode));
        const bool known = first && first->device == line->device && first->inode == line->inode;
        found.first_pages.push_back(known ? first->begin : 0);
      }
      mapping.file = found.files.size() - 1;
    }
    found.code.push_back(mapping);
  }
  std::sort(found.code.begin(), found.code.end(),
            [](const code_mapping& a, const code_mapping& b) { return a.begin < b.begin; });
  return found;
}

const elf::code_mapping* code_map_state::find(target_address address) const {
  const auto& code = mappings.code;
  const auto after = std::upper_bound(code.begin(), code.end(), address.value(),
                                      [](std::uint64_t a, const elf::code_mapping& m) { return a < m.begin; });
  if (after == code.begin() || address.value() >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

result<code_map> code_map::read(process_id pid, memory_reader& memory) {
  const auto maps = TRY(read_process_maps(pid));
  return in(maps, pid, memory);
}

code_map code_map::in(std::string_view maps, process_id pid, memory_reader& memory) {
  code_map map;
  map.state_ = std::make_shared<code_map_state>();
  map.state_->pid = pid;
  map.state_->memory = &memory;
  map.state_->mappings = elf::decode_mappings(maps);
  return map;
}

process_id code_map::process() const {
  return state_->pid;
}

std::string code_map::module_path(target_address address) const {
  const elf::code_mapping* mapping = state_->find(address);
  if (mapping == nullptr || mapping->file == elf::code_mapping::no_file) return {};
  return state_->mappings.files[mapping->file]->path;
}

}  // namespace mpiacq
