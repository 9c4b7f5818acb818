// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/look_at_starter.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::check {

namespace {

using mpir::known;

constexpr std::size_t longest_string = 32768;
/// Entries that the sharing of strings is judged by; a larger table's beginning says it as well.
constexpr std::uint64_t entries_looked_at = 65536;

std::optional<std::int64_t> value_of(const target& starter, const std::optional<symbol>& s) {
  return s ? read_integer(starter.memory, starter.abi, *s) : std::nullopt;
}

std::optional<target_address> pointer_in(const target& starter, const std::optional<symbol>& s) {
  if (!s) return std::nullopt;
  auto value = read_pointer(starter.memory, starter.abi, s->address());
  return value ? std::optional(*value) : std::nullopt;
}

void look_at_abort(const target& starter, const mpir::symbol_set& found, stop_seen& stop) {
  const auto& variable = found[known::debug_abort_string];
  if (!variable) return;
  const auto where = pointer_in(starter, variable);
  if (!where) {
    stop.abort_problem = "MPIR_debug_abort_string cannot be read";
    return;
  }
  if (where->is_null()) return;
  auto text = read_c_string(starter.memory, *where, longest_string);
  if (!text) {
    stop.abort_problem = text.error().message;
  } else if (!text->empty()) {
    stop.abort_string = std::move(*text);
  }
}

/// Compares the distinct pointers of one column with the distinct strings that they point to.
sharing_seen sharing_of(const target& starter, const structure_layout& layout, target_address base,
                        const process_table& table, descriptor_field field) {
  const structure_member* member = layout.find(name(field));
  sharing_seen seen;
  if (member == nullptr) return seen;
  const std::uint64_t entries = std::min<std::uint64_t>(table.size(), entries_looked_at);
  std::vector<std::byte> bytes(entries * layout.size);
  if (!read_exact(starter.memory, base, bytes)) return seen;
  const auto numbers = field == descriptor_field::host_name ? table.host_numbers() : table.executable_numbers();
  std::set<std::uint64_t> addresses;
  std::set<std::uint32_t> texts;
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (numbers[i] == process_table::no_string) continue;
    addresses.insert(
        decode_unsigned(std::span{bytes}.subspan(i * layout.size + member->offset, member->size), starter.abi.order));
    texts.insert(numbers[i]);
  }
  return {addresses.size(), texts.size()};
}

result<structure_layout> layout_for(const target& starter, const definitions_seen& defined, target_address base,
                                    std::uint64_t entries) {
  if (defined.descriptor) return *defined.descriptor;
  structure_layout inferred = inferred_descriptor_layout(starter.abi);
  TRY(check_layout_against_data(starter.memory, starter.abi, inferred, base, entries));
  return inferred;
}

void look_at_table(const target& starter, const definitions_seen& defined, stop_seen& stop) {
  if (!stop.proctable_size || *stop.proctable_size <= 0 || !stop.proctable || stop.proctable->is_null()) return;
  const auto entries = static_cast<std::uint64_t>(*stop.proctable_size);
  const auto layout = layout_for(starter, defined, *stop.proctable, entries);
  if (!layout) {
    stop.table_problem = layout.error().message;
    return;
  }
  auto table = read_process_table(starter.memory, starter.abi, *layout, *stop.proctable, entries);
  if (!table) {
    stop.table_problem = table.error().message;
    return;
  }
  stop.hosts = sharing_of(starter, *layout, *stop.proctable, *table, descriptor_field::host_name);
  stop.executables = sharing_of(starter, *layout, *stop.proctable, *table, descriptor_field::executable_name);
  table->belongs_to(starter.user);
  stop.table = std::make_shared<const process_table>(std::move(*table));
}

/// The module that defines the interface: that of MPIR_Breakpoint, of another symbol, or the program itself.
const module* home_of(const process_symbols& symbols, const mpir::symbol_set& found) {
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (s.required && found.has(s.id) && found[s.id]->home) return found[s.id]->home.get();
  }
  return symbols.modules().empty() ? nullptr : symbols.modules().front().get();
}

void look_at_mpi2dd(process_symbols& symbols, memory_reader& memory, const mpir::symbol_set& found,
                    definitions_seen& seen) {
  constexpr std::array<std::string_view, 1> name = {"MPI2DD_info"};
  auto info = symbols.look_up(name, {.loaded_only = true});
  if (info && !info->front()) info = symbols.look_up(name, {.only_in = home_of(symbols, found)});
  if (!info || !info->front()) return;
  constexpr std::size_t magic_version_variant = 7;
  std::array<std::byte, magic_version_variant> bytes{};
  seen.mpi2dd.emplace();
  if (!read_exact(memory, info->front()->address(), bytes)) return;
  for (const std::byte b : bytes) seen.mpi2dd->push_back(std::to_integer<std::uint8_t>(b));
}

}  // namespace

seen_symbol as_seen(symbol_source& symbols, const symbol& s, const symbol* near) {
  seen_symbol seen{s.name, s.home ? s.home->path : std::string{}, s.size, s.kind, {}};
  if (s.kind == symbol_kind::function || s.absolute) return seen;
  // Debug information that cannot be read tells no type; that it cannot is told where the descriptor is looked for.
  if (auto type = symbols.type_of(s, near)) seen.type = std::move(*type);
  return seen;
}

std::optional<std::int64_t> read_integer(memory_reader& memory, const target_abi& abi, const symbol& s) {
  const std::uint64_t size = s.size == 0 ? abi.int_size : s.size;
  if (size != 1 && size != 2 && size != 4 && size != 8) return std::nullopt;
  auto value = read_signed(memory, abi, s.address(), size);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::string> read_array_text(const target& starter, const std::optional<symbol>& s) {
  if (!s) return std::nullopt;
  std::vector<std::byte> bytes(std::min<std::uint64_t>(s->size, longest_string));
  if (!read_exact(starter.memory, s->address(), bytes)) return std::nullopt;
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  std::string text(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(end - bytes.begin()));
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

definitions_seen look_at_definitions(process_symbols& symbols, memory_reader& memory, const mpir::symbol_set& found) {
  definitions_seen seen;
  seen.abi = symbols.abi();
  if (const module* home = home_of(symbols, found)) {
    seen.home = home->path;
    seen.home_build_id = build_id_text(*home);
    seen.home_has_symbol_table = symbols.has_symbol_table(*home);
  }
  const auto& breakpoint = found[known::breakpoint];
  const symbol* near = breakpoint ? &*breakpoint : nullptr;
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (found.has(s.id)) seen.symbols[static_cast<std::size_t>(s.id)] = as_seen(symbols, *found[s.id], near);
  }
  if (const auto& table = found[known::proctable]) {
    auto layout = symbols.layout_pointed_to_by(*table, near);
    if (layout) {
      seen.descriptor = std::move(*layout);
    } else {
      seen.descriptor_problem = layout.error().message;
    }
  }
  look_at_mpi2dd(symbols, memory, found, seen);
  return seen;
}

values_seen look_at_values(const target& starter, const mpir::symbol_set& found) {
  return {value_of(starter, found[known::debug_state]), value_of(starter, found[known::proctable_size])};
}

stop_seen look_at_stop(const target& starter, const mpir::symbol_set& found, const definitions_seen& defined,
                       moment when) {
  stop_seen stop;
  stop.debug_state = value_of(starter, found[known::debug_state]);
  stop.being_debugged = value_of(starter, found[known::being_debugged]);
  stop.proctable_size = value_of(starter, found[known::proctable_size]);
  stop.proctable = pointer_in(starter, found[known::proctable]);
  if (stop.debug_state == mpir::state_aborting) look_at_abort(starter, found, stop);
  if (stop.debug_state == mpir::state_spawned || when == moment::at_attach) look_at_table(starter, defined, stop);
  return stop;
}

}  // namespace mpiacq::check
