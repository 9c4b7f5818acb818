// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <elf.h>
#include <fmt/format.h>

#include "core/core_state.hpp"
#include "dwarf/type_catalogue.hpp"
#include "errors/try.hpp"
#include "modules/running_modules.hpp"
#include "mpiacq/base/remedies.hpp"

namespace mpiacq {

namespace {

tl::unexpected<error> no_program(const std::string& core, const std::string& why) {
  return fail(
      error{error_code::bad_format, fmt::format("the program in the core file {} cannot be recognised: {}", core, why)}
          .on(core));
}

/// The headers at the beginning of the program, found from the address of its program headers in the auxiliary vector:
/// in every file of a linker they are right behind the ELF header.
elf::loaded_headers headers_of_program(memory_reader& memory, const target_abi& abi, const elf::auxiliary_vector& aux) {
  const std::uint64_t size = abi.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  if (aux.program_headers.value() < size) return {};
  std::array<std::byte, read_page_size> page{};
  memory_range range{aux.program_headers - size, page};
  if (!memory.read_ranges({&range, 1})) return {};
  auto headers = elf::headers_in(std::span{page}.first(range.got), abi);
  return headers.header && headers.header->segments_offset == size ? headers : elf::loaded_headers{};
}

/// The load bias of the file; empty if it cannot be determined.
std::optional<target_address> load_bias(std::span<const elf::segment> segments, const elf::auxiliary_vector& aux,
                                        const std::optional<elf::file_header>& header) {
  const auto headers =
      std::find_if(segments.begin(), segments.end(), [](const elf::segment& s) { return s.type == PT_PHDR; });
  if (headers != segments.end() && !aux.program_headers.is_null()) return aux.program_headers - headers->address;
  if (header) return aux.entry - header->entry;
  return std::nullopt;
}

/// The program's file, if the core lacks its headers: a file that agrees with the auxiliary vector in every entry.
std::shared_ptr<elf::image> fitting_file(const elf::core_places& places, const target_abi& abi,
                                         const elf::auxiliary_vector& aux) {
  for (const elf::file_place& place : places.program_places()) {
    auto file = elf::input_file::open_below(place.root, place.path, place.name);
    if (!file) continue;
    auto opened = elf::image::open(std::move(*file));
    if (!opened || opened->abi() != abi || opened->segments().size() != aux.program_header_count) continue;
    const auto bias = load_bias(opened->segments(), aux, opened->header());
    if (bias && *bias + opened->header().entry == aux.entry && bias->value() % read_page_size == 0) {
      return std::make_shared<elf::image>(std::move(*opened));
    }
  }
  return nullptr;
}

}  // namespace

struct core_symbols::state {
  elf::running_modules list;
};

core_symbols::core_symbols(std::unique_ptr<state> s) : state_(std::move(s)) {}
core_symbols::~core_symbols() = default;

result<std::unique_ptr<core_symbols>> core_symbols::open(core_file& core, debug_file_search search) {
  core_file::state& of = *core.state_;
  const target_abi& abi = core.abi();
  if (!of.notes.auxiliary) return no_program(core.path(), "it has no auxiliary vector (NT_AUXV)");
  const elf::auxiliary_vector& aux = *of.notes.auxiliary;

  auto headers = headers_of_program(of.memory, abi, aux);
  auto segments = elf::loaded_segments(of.memory, abi, aux);
  if (!segments) return fail(std::move(segments).error());
  std::shared_ptr<elf::image> file;
  if (segments->empty()) {
    file = fitting_file(of.places, abi, aux);
    if (file) segments->assign(file->segments().begin(), file->segments().end());
  }
  const auto bias = load_bias(*segments, aux, file ? file->header() : headers.header);
  if (!bias) {
    return no_program(core.path(),
                      fmt::format("its headers at {:#x} were not dumped, and its file {} is missing or "
                                  "does not fit; {}",
                                  aux.program_headers.value(), core.executable(), remedies::name_core_files));
  }
  if (file) of.memory.set_program(file, *bias);
  elf::running_program program{abi, std::make_shared<const module>(module{core.executable(), *bias, true,
                                                                          file ? file->build_id() : headers.build_id})};
  for (const elf::segment& s : *segments) {
    if (s.type == PT_DYNAMIC && !program.dynamic) program.dynamic = *bias + s.address;
  }
  program.file = std::move(file);
  program.headers = std::move(headers);
  program.entry = aux.entry;
  program.interpreter = aux.interpreter;
  program.vdso = aux.vdso;
  std::unique_ptr<state> s{
      new state{elf::running_modules{std::move(program), of.memory, of.places, std::move(search)}}};
  TRY(s->list.read_list(true));
  return std::unique_ptr<core_symbols>(new core_symbols(std::move(s)));
}

const target_abi& core_symbols::abi() const {
  return state_->list.program().abi;
}

target_address core_symbols::entry_point() const {
  return state_->list.program().entry;
}

std::span<const std::shared_ptr<const module>> core_symbols::modules() const {
  return state_->list.modules();
}

bool core_symbols::executable_is_stripped() const {
  return state_->list.executable_is_stripped();
}

std::span<const error> core_symbols::problems() const {
  return state_->list.problems();
}

result<std::vector<std::optional<symbol>>> core_symbols::look_up(std::span<const std::string_view> names,
                                                                 const symbol_scope& scope) {
  elf::running_modules& l = state_->list;
  return elf::find_in_modules(l.sources(), names, scope, l.search(), l.problems());
}

result<std::optional<structure_layout>> core_symbols::layout_pointed_to_by(const symbol& variable, const symbol* near) {
  elf::running_modules& l = state_->list;
  return elf::find_layout(l.sources(), variable, near, l.search(), l.problems());
}

result<std::optional<structure_layout>> core_symbols::structure_named(std::string_view tag, const symbol& near) {
  elf::running_modules& l = state_->list;
  return elf::find_structure(l.sources(), tag, near, l.search(), l.problems());
}

result<std::optional<variable_type>> core_symbols::type_of(const symbol& variable, const symbol* near) {
  elf::running_modules& l = state_->list;
  return elf::find_type(l.sources(), variable, near, l.search(), l.problems());
}

process_types::process_types(core_symbols& symbols, type_catalogue& catalogue, const module* first)
    : state_(new state{[s = symbols.state_.get()] { return s->list.sources(); }, *catalogue.state_, first, {}}) {}

}  // namespace mpiacq
