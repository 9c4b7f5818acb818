// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/unwind_modules.hpp"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

#include "elf/elf_image.hpp"
#include "errors/try.hpp"
#include "modules/loaded_headers.hpp"
#include "modules/loaded_objects.hpp"
#include "modules/unwind_facts.hpp"
#include "mpiacq/process/process_maps.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

namespace {

/// Linkers put the program headers and the note with the build id into this part of a file.
constexpr std::size_t beginning = 2048;
constexpr std::size_t long_beginning = 65536;
constexpr std::size_t most_modules = 65536;

bool is_in(const elf::segment& s, std::uint64_t address) {
  return address >= s.address && address - s.address < s.memory_size;
}

std::uint64_t page_down(std::uint64_t address) {
  return address & ~std::uint64_t{read_page_size - 1};
}

/// Sets the addresses of the module by its segments. False: the segments do not determine them.
bool place(unwind_module& m, std::span<const elf::segment> segments, target_address mapped) {
  const auto holds_beginning = std::find_if(segments.begin(), segments.end(), [](const elf::segment& s) {
    return s.type == PT_LOAD && page_down(s.offset) == 0;
  });
  if (holds_beginning == segments.end()) return false;
  m.bias = mapped - page_down(holds_beginning->address - holds_beginning->offset);
  std::uint64_t low = UINT64_MAX;
  std::uint64_t high = 0;
  for (const elf::segment& s : segments) {
    if (s.type != PT_LOAD || s.memory_size > UINT64_MAX - s.address) continue;
    low = std::min(low, s.address);
    high = std::max(high, s.address + s.memory_size);
  }
  m.begin = m.bias + page_down(low);
  m.end = m.bias + high;
  return m.begin < m.end;
}

/// Sets the addresses of the module's code.
void place_code(unwind_module& m, std::span<const elf::segment> segments) {
  for (const elf::segment& s : segments) {
    if (s.type != PT_LOAD || (s.flags & PF_X) == 0 || s.memory_size > UINT64_MAX - s.address) continue;
    const target_address begin = m.bias + s.address;
    const target_address end = begin + s.memory_size;
    if (m.code_begin.is_null() || begin < m.code_begin) m.code_begin = begin;
    m.code_end = std::max(m.code_end, end);
  }
}

/// The end of the identity of a module whose tables depend on its address.
std::string place_in_identity(const unwind_module& m) {
  return fmt::format(" at {:#x}", m.bias.value());
}

/// Uses the link-time address `address` for unwind tables of `size` bytes. False: no segment contains them.
bool place_tables(unwind_module& m, unwind_file& file, std::span<const elf::segment> segments, std::uint64_t address,
                  std::uint64_t size) {
  for (const elf::segment& s : segments) {
    if (s.type != PT_LOAD || !is_in(s, address) || s.memory_size - (address - s.address) < size) continue;
    m.tables_begin = m.bias + page_down(s.address);
    m.tables_end = m.bias + s.address + s.memory_size;
    // A segment that relocation writes to has other contents at another address.
    if ((s.flags & PF_W) != 0 && !file.identity.empty()) file.identity += place_in_identity(m);
    return true;
  }
  return false;
}

/// Without a header, only the section headers locate the records, and only the file has section headers.
void look_into_file(unwind_module& m, unwind_file& known, process_id process, const elf::loaded_object& mapping,
                    const elf::loaded_headers& headers) {
  const std::string root = fmt::format("/proc/{}/root", process.value());
  const std::string mapped =
      fmt::format("/proc/{}/map_files/{:x}-{:x}", process.value(), mapping.begin.value(), mapping.end.value());
  auto file = elf::input_file::open(mapped, known.path);  // needs root's rights
  if (!file) file = elf::input_file::open_below(root, known.path, known.path);
  if (!file) return;
  auto image = elf::image::open(std::move(*file));
  if (!image || elf::compare(headers, *image) != elf::sameness::same) return;
  const auto section = image->find_section(".eh_frame");
  if (!section || !*section || ((*section)->flags & SHF_ALLOC) == 0 || (*section)->type == SHT_NOBITS) return;
  if (!place_tables(m, known, headers.segments, (*section)->address, (*section)->size)) return;
  m.eh_frame = m.bias + (*section)->address;
  m.eh_frame_size = (*section)->size;
}

std::optional<unwind_module> describe(process_id process, const elf::loaded_object& mapping,
                                      const elf::loaded_headers& headers) {
  unwind_module m;
  unwind_file file{mapping.path, headers.build_id, {}};
  if (!place(m, headers.segments, mapping.begin)) return std::nullopt;
  place_code(m, headers.segments);
  if (!file.build_id.empty()) {
    file.identity = build_id_text(module{file.path, m.bias, false, file.build_id});
  } else if (!mapping.file.empty()) {
    file.identity = mapping.file + ' ' + file.path;
  }
  const auto header = std::find_if(headers.segments.begin(), headers.segments.end(),
                                   [](const elf::segment& s) { return s.type == PT_GNU_EH_FRAME; });
  if (header == headers.segments.end()) {
    if (!mapping.file.empty()) look_into_file(m, file, process, mapping, headers);
  } else if (place_tables(m, file, headers.segments, header->address, header->memory_size)) {
    m.eh_frame_hdr = m.bias + header->address;
    m.eh_frame_hdr_size = header->memory_size;
  }
  m.file = std::make_shared<const unwind_file>(std::move(file));
  return m;
}

/// Reads headers that are not in their usual place: tools that change linked programs move them to make room.
result<elf::loaded_headers> headers_further_on(memory_reader& memory, target_address begin, const target_abi& abi) {
  std::vector<std::byte> bytes(long_beginning);
  memory_range range{begin, bytes};
  TRY(memory.read_ranges({&range, 1}));
  return elf::headers_in(range.into.first(range.got), abi);
}

}  // namespace

bool elf::can_be_moved(const unwind_module& module) {
  if (module.file == nullptr) return false;
  const std::string& identity = module.file->identity;
  return !identity.empty() && !identity.ends_with(place_in_identity(module));
}

unwind_module elf::moved(unwind_module module, std::uint64_t by) {
  for (target_address* place : {&module.bias, &module.begin, &module.end}) *place = *place + by;
  for (target_address* place : {&module.code_begin, &module.code_end, &module.tables_begin, &module.tables_end,
                                &module.eh_frame_hdr, &module.eh_frame}) {
    if (!place->is_null()) *place = *place + by;
  }
  return module;
}

result<unwind_map> unwind_modules_of(process_id process, memory_reader& memory) {
  const auto maps = TRY(read_process_maps(process));
  return unwind_modules_in(maps, process, memory);
}

result<unwind_map> unwind_modules_in(std::string_view maps, process_id process, memory_reader& memory) {
  auto mappings = elf::loaded_objects_in(maps);
  if (mappings.size() > most_modules) mappings.resize(most_modules);

  std::vector<std::byte> bytes(mappings.size() * beginning);
  std::vector<memory_range> ranges;
  ranges.reserve(mappings.size());
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    ranges.push_back({mappings[i].begin, std::span{bytes}.subspan(i * beginning, beginning)});
  }
  if (!ranges.empty()) {
    TRY(memory.read_ranges(ranges));
  }
  unwind_map map;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const auto page = ranges[i].into.first(ranges[i].got);
    const auto header = elf::decode_header(page);
    if (!header || (!map.modules.empty() && header->abi != map.abi)) continue;
    result<elf::loaded_headers> headers = elf::headers_in(page, header->abi);
    if (headers->segments.empty()) headers = headers_further_on(memory, mappings[i].begin, header->abi);
    if (!headers) return fail(std::move(headers).error());
    auto m = describe(process, mappings[i], *headers);
    if (!m) continue;
    map.abi = header->abi;
    map.modules.push_back(std::move(*m));
  }
  if (map.modules.empty()) {
    return fail(error_code::unsupported, fmt::format("process {} has no mapped ELF object with code", process.value()));
  }
  return map;
}

}  // namespace mpiacq
