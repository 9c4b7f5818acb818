// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "process_modules.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::elf {

namespace {

constexpr std::uint64_t max_segments = 65536;

std::string proc_path(process_id pid, std::string_view what) {
  return fmt::format("/proc/{}/{}", pid.value(), what);
}

error about_process(process_id pid, int why) {
  const bool refused = why == EACCES || why == EPERM;
  error e = error{refused ? error_code::permission : error_code::process_gone,
                  fmt::format("looking at the program of process {}", pid.value())}
                .with_errno(why);
  e.message +=
      refused ? "; it takes the rights to trace it: its user's or root's, and a kernel.yama.ptrace_scope that allows it"
              : "; it has ended, or is a thread of the kernel";
  return e;
}

/// What /proc says the executable's name is. It may contain anything, and end in " (deleted)".
result<std::string> name_of_program(process_id pid) {
  std::string name(4096 + 32, '\0');
  const ssize_t size = ::readlink(proc_path(pid, "exe").c_str(), name.data(), name.size());
  if (size < 0) return fail(about_process(pid, errno));
  name.resize(static_cast<std::size_t>(size));
  return name;
}

/// The program headers where the kernel told the program they are; the file's, which say the same, where memory
/// cannot be read.
result<std::vector<segment>> loaded_segments(memory_reader& memory, const auxiliary_vector& aux, const image& file) {
  const std::uint64_t size = aux.program_header_size * aux.program_header_count;
  const bool plausible =
      aux.program_header_size == segment_record_size(file.abi()) && aux.program_header_count <= max_segments;
  if (plausible && size != 0) {
    std::vector<std::byte> table(static_cast<std::size_t>(size));
    auto read = read_exact(memory, aux.program_headers, table);
    if (read) return decode_segments(table, static_cast<std::size_t>(aux.program_header_size), file.abi());
    if (concerns_whole_target(read.error())) return fail(std::move(read).error());
  }
  return std::vector<segment>(file.segments().begin(), file.segments().end());
}

target_address load_bias(std::span<const segment> segments, const auxiliary_vector& aux, const image& file) {
  const auto headers =
      std::find_if(segments.begin(), segments.end(), [](const segment& s) { return s.type == PT_PHDR; });
  if (headers != segments.end() && !aux.program_headers.is_null()) return aux.program_headers - headers->address;
  return aux.entry - file.header().entry;  // most static programs have no PT_PHDR
}

/// Where a module's file is open to us also when it has been deleted: the kernel's link to the mapping that holds
/// `address`. It takes root's rights, and only the addresses in maps are used.
std::optional<file_place> mapped_file(process_id pid, target_address address, const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps{std::fopen(proc_path(pid, "maps").c_str(), "re"),
                                                             &std::fclose};
  if (!maps) return std::nullopt;
  char* line = nullptr;
  std::size_t room = 0;
  std::optional<file_place> place;
  while (::getline(&line, &room, maps.get()) >= 0) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
    if (address.value() < begin || address.value() >= end) continue;
    place = file_place{proc_path(pid, fmt::format("map_files/{:x}-{:x}", begin, end)), name};
    break;
  }
  std::free(line);
  return place;
}

/// The segments of a module whose first page this is; none where its headers are not all there.
std::vector<segment> segments_in_first_page(std::span<const std::byte> page, const target_abi& abi) {
  const auto header = decode_header(page);
  if (!header || header->abi != abi) return {};
  const std::uint64_t size = std::uint64_t{header->segment_count} * header->segment_size;
  if (header->segments_offset > page.size() || size > page.size() - header->segments_offset) return {};
  const auto table = page.subspan(static_cast<std::size_t>(header->segments_offset), static_cast<std::size_t>(size));
  return decode_segments(table, header->segment_size, abi);
}

/// The build id of such a module, if its note stands in that page, where linkers put it.
std::vector<std::byte> build_id_in_first_page(std::span<const std::byte> page, const target_abi& abi) {
  for (const segment& s : segments_in_first_page(page, abi)) {
    if (s.type != PT_NOTE || s.offset > page.size() || s.file_size > page.size() - s.offset) continue;
    const auto notes = page.subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.file_size));
    if (auto id = build_id_in_notes(notes, abi); !id.empty()) return id;
  }
  return {};
}

/// The list gives no name to the program. Where that is not the executable, because somebody started it by way of
/// `ld.so PROGRAM`, the kernel knows what is mapped there.
std::string name_of_library(process_id pid, const running_program& program, const link_map_entry& entry) {
  if (!entry.name.empty()) return entry.name;
  if (entry.bias == program.vdso) return "[vdso]";
  const auto place = mapped_file(pid, entry.dynamic, {});
  if (!place) return {};
  std::error_code ignored;
  return std::filesystem::read_symlink(place->path, ignored).string();
}

std::unique_ptr<module_symbols> library(process_id pid, memory_reader& memory, const running_program& program,
                                        const link_map_entry& entry, std::vector<std::byte> build_id) {
  const std::string name = name_of_library(pid, program, entry);
  module_symbols::parts parts;
  parts.facts = std::make_shared<const module>(module{name, entry.bias, false, std::move(build_id)});
  parts.abi = program.file->abi();
  parts.memory = &memory;
  if (!entry.dynamic.is_null()) parts.dynamic = entry.dynamic;
  parts.roots = {proc_path(pid, "root")};
  if (!name.empty() && entry.bias != program.vdso) {
    // A relative name is what was given to dlopen, or came from a relative LD_LIBRARY_PATH.
    const std::string folder = name.starts_with('/') ? proc_path(pid, "root") : proc_path(pid, "cwd/");
    parts.places = {{folder + name, name}};
    parts.last_place = [pid, address = entry.dynamic, name] { return mapped_file(pid, address, name); };
  }
  return std::make_unique<module_symbols>(std::move(parts));
}

/// The dynamic linker's own dynamic section. The kernel loaded it as the program's interpreter, or, where somebody
/// started a program by way of `ld.so PROGRAM`, as the program itself.
result<std::optional<dynamic_section>> section_of_linker(memory_reader& memory, const running_program& program,
                                                         const dynamic_section& programs_own) {
  if (program.interpreter.is_null()) return programs_own;
  const target_abi& abi = program.file->abi();
  std::array<std::byte, read_page_size> page{};
  memory_range range{program.interpreter, page};
  if (auto read = memory.read_ranges({&range, 1}); !read) return fail(std::move(read).error());
  const auto bytes = std::span{page}.first(range.got);
  for (const segment& s : segments_in_first_page(bytes, abi)) {
    if (s.type != PT_DYNAMIC) continue;
    auto section = read_dynamic_section(memory, abi, program.interpreter, program.interpreter + s.address);
    if (!section) return fail(std::move(section).error());
    return std::move(*section);
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<target_address>> find_r_debug(memory_reader& memory, const running_program& program) {
  if (!program.dynamic) return std::nullopt;
  const target_abi& abi = program.file->abi();
  auto own = read_dynamic_section(memory, abi, program.facts->bias, *program.dynamic);
  if (!own) return fail(std::move(own).error().while_doing("reading the program's dynamic section"));
  if (own->debug) return own->debug->is_null() ? std::optional<target_address>{} : own->debug;

  auto section = section_of_linker(memory, program, *own);
  if (!section) return fail(std::move(section).error());
  if (!*section) return std::nullopt;
  auto symbols = dynamic_symbols::read(memory, abi, **section);
  if (!symbols) return fail(std::move(symbols).error());
  constexpr std::array<std::string_view, 1> name = {"_r_debug"};
  auto found = symbols->find(memory, name);
  if (!found) return fail(std::move(found).error());
  if (!found->front()) return std::nullopt;
  return (program.interpreter.is_null() ? program.facts->bias : program.interpreter) + found->front()->value;
}

result<running_program> look_at_program(process_id pid, memory_reader& memory) {
  auto name = name_of_program(pid);
  if (!name) return fail(std::move(name).error());
  auto file = input_file::open(proc_path(pid, "exe"), *name);
  if (!file) return fail(std::move(file).error().while_doing(fmt::format("looking at process {}", pid.value())));
  auto opened = image::open(std::move(*file));
  if (!opened) return fail(std::move(opened).error());
  auto aux = read_auxiliary_vector(pid, opened->abi());
  if (!aux) return fail(std::move(aux).error());
  auto segments = loaded_segments(memory, *aux, *opened);
  if (!segments) return fail(std::move(segments).error());

  running_program program;
  const target_address bias = load_bias(*segments, *aux, *opened);
  for (const segment& s : *segments) {
    if (s.type == PT_DYNAMIC && !program.dynamic) program.dynamic = bias + s.address;
  }
  program.entry = aux->entry;
  program.interpreter = aux->interpreter;
  program.vdso = aux->vdso;
  program.facts = std::make_shared<const module>(module{std::move(*name), bias, true, opened->build_id()});
  program.file = std::make_shared<image>(std::move(*opened));
  return program;
}

std::unique_ptr<module_symbols> symbols_of_program(process_id pid, memory_reader& memory,
                                                   const running_program& program) {
  module_symbols::parts parts;
  parts.facts = program.facts;
  parts.abi = program.file->abi();
  parts.memory = &memory;
  parts.dynamic = program.dynamic;
  parts.places = {{proc_path(pid, "exe"), program.facts->path}};
  parts.roots = {proc_path(pid, "root")};
  parts.opened = program.file;
  return std::make_unique<module_symbols>(std::move(parts));
}

result<std::vector<std::unique_ptr<module_symbols>>> modules_of(process_id pid, memory_reader& memory,
                                                                const running_program& program,
                                                                std::span<const link_map_entry> entries,
                                                                std::span<const link_map_entry> known) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (std::find(known.begin(), known.end(), entries[i]) == known.end()) fresh.push_back(i);
  }
  // A library's ELF header stands where its bias is, unless it was prelinked; its build id is then left to its file.
  std::vector<std::byte> pages(fresh.size() * read_page_size);
  std::vector<memory_range> ranges;
  ranges.reserve(fresh.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    ranges.push_back({entries[fresh[i]].bias, std::span{pages}.subspan(i * read_page_size, read_page_size), 0});
  }
  if (!ranges.empty()) {
    if (auto read = memory.read_ranges(ranges); !read) return fail(std::move(read).error());
  }
  std::vector<std::unique_ptr<module_symbols>> modules(entries.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    auto build_id = build_id_in_first_page(ranges[i].into.first(ranges[i].got), program.file->abi());
    modules[fresh[i]] = library(pid, memory, program, entries[fresh[i]], std::move(build_id));
  }
  return modules;
}

}  // namespace mpiacq::elf
