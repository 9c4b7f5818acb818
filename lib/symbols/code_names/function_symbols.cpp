// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/function_symbols.hpp"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

/// The limits exceed the largest programs, whose symbols have some tens of megabytes, and whose names have a hundred.
constexpr std::uint64_t max_table_bytes = std::uint64_t{48} << 20;
constexpr std::uint64_t max_name_bytes = std::uint64_t{128} << 20;

/// The limit on the length of a name. Without it, each record of a table could cost a read of the same bytes.
constexpr std::size_t longest_name = 65536;

bool names_code(const symbol_record& record) {
  const unsigned type = ELF64_ST_TYPE(record.info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) && record.section != SHN_UNDEF &&
         record.section != SHN_ABS && record.section != SHN_COMMON && record.name != 0;
}

/// A weak name is as good as a global one: the C library's `write` is weak, and its `__write` is global.
std::uint16_t rank_of(const symbol_record& record, std::string_view name) {
  const bool is_local = ELF64_ST_BIND(record.info) == STB_LOCAL;
  const bool has_type = ELF64_ST_TYPE(record.info) != STT_NOTYPE;
  const std::size_t underscores = std::min(std::min(name.find_first_not_of('_'), name.size()), std::size_t{7});
  // The underscore in front of a mangled name does not mark a private function.
  const std::size_t counted = name.starts_with("_Z") ? 0 : underscores;
  // The catalogue prefers `MPI_Recv` to `PMPI_Recv`.
  const std::size_t length = std::min(name.size(), std::size_t{255});
  return static_cast<std::uint16_t>(
      ((is_local ? 32U : 0U) + (has_type ? 0U : 16U) + (record.size == 0 ? 8U : 0U) + counted) << 8 | length);
}

/// Marks of the kind of code that follows, which some assemblers leave in the table ("$x", ".L12").
bool is_mark(std::string_view name) {
  return name.empty() || name.starts_with("$") || name.starts_with(".L");
}

}  // namespace

result<function_symbols> function_symbols::read(image& file, std::uint32_t type) {
  function_symbols read;
  const auto table = TRY(file.find_section(type));
  if (!table || table->type == SHT_NOBITS) return read;
  const auto sections = TRY(file.sections());
  const std::size_t record_size = symbol_record_size(file.abi());
  const std::string& path = file.file().name();
  if (table->entry_size != record_size || table->link >= sections.size()) {
    return fail(error{error_code::bad_format,
                      fmt::format("{} has a symbol table with entries of {} bytes and names in section {}", path,
                                  table->entry_size, table->link)}
                    .on(path));
  }
  const section& strings = sections[table->link];
  if (table->size > max_table_bytes || strings.size > max_name_bytes) {
    return fail(error{error_code::limit, fmt::format("{} claims to have {} bytes of symbols with {} bytes of names, "
                                                     "more than the {} and {} that are read",
                                                     path, table->size, strings.size, max_table_bytes, max_name_bytes)}
                    .on(path));
  }
  auto names = TRY(file.contents(strings));
  auto records = TRY(file.contents(*table));
  read.names_ = std::move(names);
  read.sections_.assign(sections.begin(), sections.end());
  read.functions_.reserve(records.size() / record_size);
  for (std::size_t at = 0; at + record_size <= records.size(); at += record_size) {
    read.take(decode_symbol(std::span{records}.subspan(at, record_size), file.abi()));
  }
  std::vector<std::byte>{}.swap(records);  // frees the records, because the sort needs memory, too
  read.functions_.shrink_to_fit();
  read.sort();
  return read;
}

void function_symbols::add(function_symbols&& other) {
  const auto first_name = static_cast<std::uint32_t>(names_.size());
  const auto first_section = static_cast<std::uint32_t>(sections_.size());
  names_.insert(names_.end(), other.names_.begin(), other.names_.end());
  sections_.insert(sections_.end(), other.sections_.begin(), other.sections_.end());
  for (function f : other.functions_) {
    f.name += first_name;
    f.section += first_section;
    functions_.push_back(f);
  }
  sort();
}

void function_symbols::take(const symbol_record& record) {
  if (!names_code(record)) return;
  const bool in_code = record.section >= sections_.size() || (sections_[record.section].flags & SHF_EXECINSTR) != 0;
  if (!in_code) return;
  function f{record.value, record.value, record.name, record.section, 0};
  if (record.size <= UINT64_MAX - record.value) f.end += record.size;
  const std::string_view name = name_of(f);
  if (is_mark(name)) return;
  f.rank = rank_of(record, name);
  functions_.push_back(f);
}

void function_symbols::sort() {
  std::stable_sort(functions_.begin(), functions_.end(), [](const function& a, const function& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.rank < b.rank;
  });
  furthest_ends_.clear();
  furthest_ends_.reserve(functions_.size());
  std::uint64_t furthest = 0;
  for (const function& f : functions_) furthest_ends_.push_back(furthest = std::max(furthest, f.end));
}

std::string_view function_symbols::name_of(const function& f) const {
  if (f.name >= names_.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(names_.data()) + f.name;
  const std::size_t room = std::min(names_.size() - f.name, longest_name);
  const void* end = std::memchr(begin, 0, room);
  return end == nullptr ? std::string_view{}
                        : std::string_view{begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

/// The best of the functions that contain the address and begin at the same address as number `last`; `last` becomes
/// the number of the first of them.
const function_symbols::function* function_symbols::best_at(std::size_t& last, std::uint64_t address) const {
  const function* best = nullptr;
  const std::uint64_t begin = functions_[last].begin;
  for (;; --last) {
    if (address < functions_[last].end) best = &functions_[last];
    if (last == 0 || functions_[last - 1].begin != begin) return best;
  }
}

std::optional<std::string_view> function_symbols::find(std::uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](std::uint64_t a, const function& f) { return a < f.begin; });
  if (after == functions_.begin()) return std::nullopt;
  const auto nearest = static_cast<std::size_t>(after - functions_.begin()) - 1;
  // In most cases it is the nearest function; a long function can contain other symbols.
  constexpr std::size_t furthest_back = 4096;
  const std::size_t stop = nearest > furthest_back ? nearest - furthest_back : 0;
  for (std::size_t i = nearest; i >= stop && address < furthest_ends_[i]; --i) {
    if (const function* best = best_at(i, address)) return name_of(*best);
    if (i == 0) break;
  }
  // A function without a size extends to the next symbol or to the end of its section.
  const std::uint64_t begin = functions_[nearest].begin;
  const function* unsized = nullptr;
  for (std::size_t i = nearest + 1; i-- > 0 && functions_[i].begin == begin;) {
    const function& f = functions_[i];
    if (f.end != f.begin || f.section >= sections_.size()) continue;
    const section& home = sections_[f.section];
    if (address >= home.address && address - home.address < home.size) unsized = &f;
  }
  return unsized == nullptr ? std::nullopt : std::optional{name_of(*unsized)};
}

std::optional<std::string_view> function_symbols::beginning_at(std::uint64_t address) const {
  const auto first = std::lower_bound(functions_.begin(), functions_.end(), address,
                                      [](const function& f, std::uint64_t a) { return f.begin < a; });
  if (first == functions_.end() || first->begin != address) return std::nullopt;
  return name_of(*first);
}

}  // namespace mpiacq::elf
