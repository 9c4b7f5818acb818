// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/running_program.hpp"

#include <algorithm>
#include <array>

#include <elf.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::uint64_t max_program_headers = 65536;

/// The list has no name for the program. If a user started it as `ld.so PROGRAM`, the executable is the dynamic linker,
/// and the kernel's mappings name the program.
std::string name_of_library(const target_files& files, const running_program& program, const link_map_entry& entry) {
  if (!entry.name.empty()) return entry.name;
  return entry.bias == program.vdso ? "[vdso]" : files.name_at(entry.dynamic);
}

std::unique_ptr<module_symbols> library(const target_files& files, memory_reader& memory,
                                        const running_program& program, const link_map_entry& entry,
                                        loaded_headers headers, const std::vector<std::string>& roots) {
  const std::string name = name_of_library(files, program, entry);
  module_symbols::parts parts;
  parts.facts = std::make_shared<const module>(module{name, entry.bias, false, headers.build_id});
  parts.abi = program.abi;
  parts.memory = &memory;
  parts.headers = std::move(headers);
  if (!entry.dynamic.is_null()) parts.dynamic = entry.dynamic;
  parts.roots = roots;
  if (!name.empty() && entry.bias != program.vdso) {
    parts.places = files.library_places(name);
    parts.last_place = [&files, address = entry.dynamic, name] { return files.mapped_at(address, name); };
  }
  return std::make_unique<module_symbols>(std::move(parts));
}

/// The dynamic linker's own dynamic section. The kernel loaded it as the program's interpreter or, for `ld.so PROGRAM`,
/// as the program itself.
result<std::optional<dynamic_section>> section_of_linker(memory_reader& memory, const running_program& program,
                                                         const dynamic_section& programs_own) {
  if (program.interpreter.is_null()) return programs_own;
  std::array<std::byte, read_page_size> page{};
  memory_range range{program.interpreter, page};
  TRY(memory.read_ranges({&range, 1}));
  for (const segment& s : headers_in(std::span{page}.first(range.got), program.abi).segments) {
    if (s.type != PT_DYNAMIC) continue;
    return TRY(read_dynamic_section(memory, program.abi, program.interpreter, program.interpreter + s.address));
  }
  return std::nullopt;
}

}  // namespace

result<std::vector<segment>> loaded_segments(memory_reader& memory, const target_abi& abi,
                                             const auxiliary_vector& aux) {
  const std::uint64_t size = aux.program_header_size * aux.program_header_count;
  if (aux.program_header_size != segment_record_size(abi) || aux.program_header_count > max_program_headers ||
      size == 0) {
    return std::vector<segment>{};
  }
  std::vector<std::byte> table(static_cast<std::size_t>(size));
  auto read = read_exact(memory, aux.program_headers, table);
  if (read) return decode_segments(table, static_cast<std::size_t>(aux.program_header_size), abi);
  if (concerns_whole_target(read.error())) return fail(std::move(read).error());
  return std::vector<segment>{};
}

result<std::optional<target_address>> find_r_debug(memory_reader& memory, const running_program& program) {
  if (!program.dynamic) return std::nullopt;
  auto own = read_dynamic_section(memory, program.abi, program.facts->bias, *program.dynamic);
  if (!own) return fail(std::move(own).error().while_doing("reading the program's dynamic section"));
  if (own->debug) return own->debug->is_null() ? std::optional<target_address>{} : own->debug;

  auto section = TRY(section_of_linker(memory, program, *own));
  if (!section) return std::nullopt;
  auto symbols = TRY(dynamic_symbols::read(memory, program.abi, *section));
  constexpr std::array<std::string_view, 1> name = {"_r_debug"};
  auto found = TRY(symbols.find(memory, name));
  if (!found.front()) return std::nullopt;
  return (program.interpreter.is_null() ? program.facts->bias : program.interpreter) + found.front()->value;
}

std::unique_ptr<module_symbols> symbols_of_program(const target_files& files, memory_reader& memory,
                                                   const running_program& program) {
  module_symbols::parts parts;
  parts.facts = program.facts;
  parts.abi = program.abi;
  parts.memory = &memory;
  parts.headers = program.headers;
  parts.dynamic = program.dynamic;
  parts.places = files.program_places();
  parts.roots = files.roots();
  parts.opened = program.file;
  return std::make_unique<module_symbols>(std::move(parts));
}

result<std::vector<std::unique_ptr<module_symbols>>> modules_of(const target_files& files, memory_reader& memory,
                                                                const running_program& program,
                                                                std::span<const link_map_entry> entries,
                                                                std::span<const link_map_entry> known) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (std::find(known.begin(), known.end(), entries[i]) == known.end()) fresh.push_back(i);
  }
  // A library's ELF header is at its bias, unless it was prelinked; then its build id is read from its file.
  std::vector<std::byte> pages(fresh.size() * read_page_size);
  std::vector<memory_range> ranges;
  ranges.reserve(fresh.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    ranges.push_back({entries[fresh[i]].bias, std::span{pages}.subspan(i * read_page_size, read_page_size), 0});
  }
  if (!ranges.empty()) {
    TRY(memory.read_ranges(ranges));
  }
  const std::vector<std::string> roots = files.roots();  // one call, because it examines several files
  std::vector<std::unique_ptr<module_symbols>> modules(entries.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    auto headers = headers_in(ranges[i].into.first(ranges[i].got), program.abi);
    modules[fresh[i]] = library(files, memory, program, entries[fresh[i]], std::move(headers), roots);
  }
  return modules;
}

}  // namespace mpiacq::elf
