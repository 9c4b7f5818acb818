// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core/core_memory.hpp"

#include <algorithm>
#include <array>

#include <elf.h>
#include <fmt/format.h>

#include "modules/loaded_headers.hpp"
#include "mpiacq/base/remedies.hpp"

namespace mpiacq::elf {

namespace {

/// Whether the program could have written to its mapping at this offset of a file. Its memory may differ from the file
/// then.
bool belongs_to_writable_segment(const image& file, std::uint64_t offset) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const segment& s) {
    if (s.type != PT_LOAD || (s.flags & PF_W) == 0) return false;
    // The dynamic linker maps a segment from the page that contains its beginning.
    const std::uint64_t alignment = std::clamp<std::uint64_t>(s.alignment, 1, 1U << 20);
    const std::uint64_t begin = s.offset - s.offset % alignment;
    return offset >= begin && offset - begin < s.file_size + (s.offset - begin);
  });
}

}  // namespace

core_memory::core_memory(const image& core, const core_notes& notes, const core_places& places,
                         std::vector<error>& problems)
    : core_(core), notes_(notes), places_(places), problems_(problems) {
  for (const segment& s : core.segments()) {
    if (s.type != PT_LOAD || s.memory_size == 0) continue;
    const std::uint64_t size = std::min(s.memory_size, UINT64_MAX - s.address);
    pieces_.push_back({s.address, std::min(s.file_size, size), size, s.offset, (s.flags & PF_W) != 0});
  }
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const piece& a, const piece& b) { return a.begin < b.begin; });
  // If two pieces overlap, which no writer of cores does, the first one is used.
  const auto overlaps = [end = std::uint64_t{0}](const piece& p) mutable {
    if (p.begin < end) return true;
    end = p.begin + p.size;
    return false;
  };
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(), overlaps), pieces_.end());
  note_end_of_core();
}

void core_memory::note_end_of_core() {
  std::uint64_t promised = 0;
  for (const piece& p : pieces_) {
    if (p.dumped != 0)
      promised = std::max(promised, p.offset > UINT64_MAX - p.dumped ? UINT64_MAX : p.offset + p.dumped);
  }
  const std::uint64_t size = core_.file().size();
  if (promised <= size) return;
  problems_.push_back(error{error_code::bad_format,
                            fmt::format("the core file {} is cut short: it has {} bytes of at least {}; memory in the "
                                        "part that is missing cannot be read (a limit on core files, or a full disk?)",
                                        core_.file().name(), size, promised)}
                          .on(core_.file().name()));
}

const core_memory::piece* core_memory::piece_at(std::uint64_t address) const {
  const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                       [](std::uint64_t a, const piece& p) { return a < p.begin; });
  if (behind == pieces_.begin()) return nullptr;
  const piece& before = *(behind - 1);
  return address - before.begin < before.size ? &before : nullptr;
}

result<void> core_memory::read_ranges(std::span<memory_range> ranges) {
  for (memory_range& range : ranges) range.got = 0;
  for (memory_range& range : ranges) {
    while (range.got < range.into.size()) {
      const auto next = range.address.checked_add(range.got);
      if (!next) break;
      auto count = read_once(next->value(), range.into.subspan(range.got));
      if (!count) {
        for (memory_range& r : ranges) r.got = 0;
        return fail(std::move(count).error());
      }
      if (*count == 0) break;
      range.got += *count;
    }
  }
  return {};
}

/// Reads at most to the end of one piece or one mapping.
result<std::size_t> core_memory::read_once(std::uint64_t address, std::span<std::byte> into) {
  const piece* p = piece_at(address);
  if (p != nullptr && address - p->begin < p->dumped) {
    const std::uint64_t within = address - p->begin;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), p->dumped - within));
    if (p->offset > UINT64_MAX - within) return std::size_t{0};
    return core_.file().read_some(p->offset + within, into.first(size));
  }
  if (p != nullptr && p->is_writable) return std::size_t{0};
  // Up to the end of this piece or the beginning of the next one: dumped memory has precedence.
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                     [](std::uint64_t a, const piece& q) { return a < q.begin; });
  std::uint64_t room = next == pieces_.end() ? UINT64_MAX : next->begin - address;
  if (p != nullptr) room = std::min(room, p->begin + p->size - address);
  return read_mapped(address, into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), room))));
}

result<std::size_t> core_memory::read_mapped(std::uint64_t address, std::span<std::byte> into) {
  const core_mapping* mapping = mapping_at(notes_, target_address{address});
  if (mapping == nullptr) return program_ ? read_program(address, into) : std::size_t{0};
  image* file = file_of(*mapping);
  if (file == nullptr || belongs_to_writable_segment(*file, mapping->offset)) return std::size_t{0};
  const std::uint64_t within = address - mapping->begin.value();
  if (mapping->offset > UINT64_MAX - within) return std::size_t{0};
  const std::uint64_t room = mapping->end.value() - address;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), room));
  auto count = file->file().read_some(mapping->offset + within, into.first(size));
  return count ? *count : 0;  // not a fault of the core: the page is missing
}

void core_memory::set_program(std::shared_ptr<image> file, target_address bias) {
  program_ = std::move(file);
  program_bias_ = bias.value();
}

result<std::size_t> core_memory::read_program(std::uint64_t address, std::span<std::byte> into) const {
  const std::uint64_t at = address - program_bias_;
  for (const segment& s : program_->segments()) {
    if (s.type != PT_LOAD || (s.flags & PF_W) != 0 || at < s.address || at - s.address >= s.file_size) continue;
    const std::uint64_t within = at - s.address;
    if (s.offset > UINT64_MAX - within) break;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), s.file_size - within));
    auto count = program_->file().read_some(s.offset + within, into.first(size));
    return count ? *count : 0;
  }
  return std::size_t{0};
}

image* core_memory::file_of(const core_mapping& mapping) {
  const auto known = files_.find(mapping.loading);
  if (known != files_.end()) return known->second.get();
  // The file is marked as unusable during the check, because the check may read its headers from the core.
  files_[mapping.loading] = nullptr;
  return (files_[mapping.loading] = open_file_of(mapping)).get();
}

std::shared_ptr<image> core_memory::open_file_of(const core_mapping& mapping) {
  const std::string& path = notes_.paths[mapping.path];
  const auto refuse = [&](std::string why) {
    problems_.push_back(
        error{error_code::bad_format,
              fmt::format("the parts of {} that the core file lacks are not read from a file: {}", path, why)}
            .on(path));
    return nullptr;
  };
  const auto first = std::find_if(notes_.mappings.begin(), notes_.mappings.end(),
                                  [&](const core_mapping& m) { return m.loading == mapping.loading; });
  if (first->offset != 0) return refuse("the core lacks its first bytes, which identify the file");
  std::array<std::byte, read_page_size> page{};
  memory_range range{first->begin, page};
  if (!read_ranges({&range, 1})) return nullptr;
  const auto headers = headers_in(std::span{page}.first(range.got), core_.abi());
  if (!headers.header)
    return refuse("the core lacks its first page, which identifies the file, or the page has no ELF header");

  std::string why = fmt::format("it is not found; {}", remedies::name_core_files);
  for (const file_place& place : places_.places_of(path)) {
    auto file = input_file::open_below(place.root, place.path, place.name);
    if (!file && file.error().code == error_code::not_found) continue;
    if (!file) {
      why = file.error().message;
      continue;
    }
    auto opened = image::open(std::move(*file));
    if (opened && compare(headers, *opened) == sameness::same) return std::make_shared<image>(std::move(*opened));
    why = opened ? fmt::format("{} is another file (its build id or its headers differ)", place.name)
                 : opened.error().message;
  }
  return refuse(why);
}

}  // namespace mpiacq::elf
