// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "debug_files/debug_copy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <elf.h>
#include <fmt/format.h>
#include <libelf.h>

#include "debug_files/compressed_sections.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// The sections that the readers of DWARF need. Macros, frames and indices are not copied.
constexpr std::array<std::string_view, 12> wanted_sections = {"info",        "types",  "abbrev",   "addr",
                                                              "aranges",     "line",   "line_str", "str",
                                                              "str_offsets", "ranges", "rnglists", "sup"};
constexpr std::array<std::string_view, 2> location_sections = {"loc", "loclists"};

/// Larger uncompressed sections are mapped: most of the allowance is for libdw's own memory.
constexpr std::uint64_t most_copied = std::uint64_t{128} << 20;
/// Compression reduces debug information to a third or a tenth, and zeros to a thousandth.
constexpr std::uint64_t best_compression = 64;
constexpr std::uint64_t always_allowed = std::uint64_t{1} << 20;
/// libdw keeps each entry of .debug_aranges three times. A large section is left out; then the units' own ranges are
/// used.
constexpr std::uint64_t aranges_growth = 10;
constexpr std::uint64_t largest_aranges = std::uint64_t{8} << 20;

bool starts_with_any(std::string_view& name, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view beginning : beginnings) {
    if (!name.starts_with(beginning)) continue;
    name.remove_prefix(beginning.size());
    return true;
  }
  return false;
}

bool is_wanted(const elf::image& file, const elf::section& s, std::string_view name, with_locations locations) {
  if (s.type == SHT_NULL || s.type == SHT_NOBITS) return false;
  if (name == ".gnu_debugaltlink") return true;
  const bool is_object = file.header().type == ET_REL;
  if (is_object && (s.type == SHT_SYMTAB || name == ".strtab")) return true;
  const bool is_relocation = s.type == SHT_REL || s.type == SHT_RELA;
  if (is_relocation && !(is_object && starts_with_any(name, {".rela", ".rel"}))) return false;
  if (!starts_with_any(name, {".debug_", ".zdebug_"})) return false;
  if (name == "aranges" && s.size > largest_aranges) return false;
  const auto is_one_of = [name](const auto& all) { return std::find(all.begin(), all.end(), name) != all.end(); };
  return is_one_of(wanted_sections) || (locations == with_locations::yes && is_one_of(location_sections));
}

result<void> check_claims(const elf::image& file, elf::memory_elf& copy, dwarf_allowance& allowance) {
  for (std::size_t i = 0; i < copy.parts().size(); ++i) {
    const elf::memory_elf::part& p = copy.parts()[i];
    const auto bytes = copy.contents(i);
    const auto how = compression_of(p, bytes, file.abi());
    const std::uint64_t inflated = how ? how->inflated : 0;
    const bool is_possible = inflated <= always_allowed || inflated / best_compression <= bytes.size();
    const std::uint64_t size = std::max<std::uint64_t>(inflated, bytes.size());
    const std::uint64_t indexed = p.name.ends_with("debug_aranges") ? size * aranges_growth : 0;
    if (is_possible && size < dwarf_allowance::most_memory && allowance.take(inflated + indexed)) continue;
    return too_expensive(file.file().name(), fmt::format("its section {} has {} bytes and claims to be {} bytes large",
                                                         p.name, bytes.size(), size));
  }
  return {};
}

/// The sections of the copy. In an object file they keep their numbers, because relocations refer to these.
struct plan {
  std::vector<elf::memory_elf::part> parts;
  std::vector<elf::section> sources;  ///< the source of each part
  std::uint64_t total = 0;
  bool has_compressed = false;
};

result<plan> plan_copy(elf::image& file, with_locations locations) {
  auto sections = TRY(file.sections());
  plan made;
  made.parts.push_back({});
  made.sources.push_back({});
  const bool keeps_numbers = file.header().type == ET_REL;
  for (std::size_t i = 1; i < sections.size(); ++i) {
    const elf::section& s = sections[i];
    const std::string name{file.name_of(s)};
    if (is_wanted(file, s, name, locations)) {
      made.parts.push_back({name, s});
      made.sources.push_back(s);
      made.total += std::min(s.size, file.file().size());
      made.has_compressed = made.has_compressed || compression_of(made.parts.back(), {}, file.abi());
      TRY(file.file().check_is_stored(s.offset, s.size));
    } else if (keeps_numbers) {
      made.parts.push_back({});
      made.sources.push_back({});
    }
  }
  return made;
}

}  // namespace

result<std::optional<elf::memory_elf>> copy_debug_sections(elf::image& file, dwarf_allowance& allowance,
                                                           with_locations locations) {
  auto made = TRY(plan_copy(file, locations));
  const bool is_mappable = !made.has_compressed && file.header().type != ET_REL;
  if (is_mappable && made.total > most_copied) return std::nullopt;
  if (!allowance.take(made.total)) {
    return too_expensive(file.file().name(), fmt::format("its sections have {} bytes", made.total));
  }
  elf::memory_elf copy{file.abi(), file.header().type, std::move(made.parts)};
  for (std::size_t i = 0; i < made.sources.size(); ++i) {
    const elf::section& from = made.sources[i];
    if (from.type == SHT_NULL) continue;
    TRY(file.file().read_whole(from.offset, copy.contents(i)));
  }
  TRY(check_claims(file, copy, allowance));
  if (!made.has_compressed) return copy;
  return inflate_sections(std::move(copy), file.abi(), file.header().type);
}

result<std::vector<std::byte>> read_debug_section(elf::image& file, const elf::section& s, dwarf_allowance& allowance) {
  if (s.size > elf::input_file::largest_read || !allowance.take(s.size)) {
    return too_expensive(file.file().name(), fmt::format("its section {} has {} bytes", file.name_of(s), s.size));
  }
  if ((s.flags & SHF_COMPRESSED) == 0) return file.contents(s);
  elf::memory_elf alone{file.abi(), ET_REL, {{}, {std::string{file.name_of(s)}, s}}};
  TRY(file.file().read_whole(s.offset, alone.contents(1)));
  TRY(check_claims(file, alone, allowance));
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> handle{
      elf_memory(reinterpret_cast<char*>(alone.bytes().data()), alone.bytes().size()), &elf_end};
  Elf_Scn* section = handle ? elf_getscn(handle.get(), 1) : nullptr;
  const bool is_inflated = section != nullptr && elf_compress(section, 0, 0) >= 0;
  const Elf_Data* data = is_inflated ? elf_rawdata(section, nullptr) : nullptr;
  if (data == nullptr) {
    return fail(error{error_code::bad_format,
                      fmt::format("the section {} of {} cannot be inflated", file.name_of(s), file.file().name())}
                    .on(file.file().name()));
  }
  const auto* bytes = static_cast<const std::byte*>(data->d_buf);
  return std::vector<std::byte>{bytes, bytes + data->d_size};
}

}  // namespace mpiacq::debug_info
