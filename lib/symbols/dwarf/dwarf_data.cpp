// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_data.hpp"

#include <algorithm>
#include <cstring>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include "debug_files/debug_files.hpp"
#include "dwarf/dwarf_relocations.hpp"
#include "dwarf/dwarf_structure.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// Longer than the names of any compiler. Without the limit, each entry of a table could cost a read of the same bytes.
constexpr std::size_t longest_string = 65536;

result<bool> has_debug_information(elf::image& file) {
  for (const char* name : {".debug_info", ".zdebug_info"}) {
    auto section = TRY(file.find_section(name));
    // A stripped file whose debug information was split off can have the section without contents.
    if (section && section->type != SHT_NOBITS && section->size != 0) return true;
  }
  return false;
}

/// Keeps the first definition; before it, the first declaration.
class best_match {
 public:
  best_match(const dwarf_data& data, std::string_view name) : data_(data), name_(name) {}

  /// Searches a unit's top level; true if a definition was found.
  result<bool> look_in(Dwarf_Die& unit) {
    Dwarf_Die whole = data_.whole_unit(unit);
    auto looked = visit_children(data_, whole, [&](Dwarf_Die& child) -> result<bool> {
      if (dwarf_tag(&child) != DW_TAG_variable || data_.name_of(child) != name_) return false;
      definition_ = !is_declaration(child);
      if (definition_ || !match_) match_ = child;
      return definition_;
    });
    if (!looked) return fail(std::move(looked).error());
    return definition_;
  }

  [[nodiscard]] std::optional<Dwarf_Die> match() const { return match_; }

 private:
  const dwarf_data& data_;
  std::string_view name_;
  std::optional<Dwarf_Die> match_;
  bool definition_ = false;
};

}  // namespace

result<std::optional<dwarf_data>> dwarf_data::open(elf::image& file, const debug_file_search& search,
                                                   std::span<const std::string> roots, with_locations locations) {
  auto present = TRY(has_debug_information(file));
  if (!present) return std::nullopt;
  dwarf_data data{std::make_shared<dwarf_allowance>()};
  TRY(data.open_handles(file, locations));
  TRY(data.open_shared_file(file, search, roots));
  data.split_files_ = std::make_unique<split_unit_files>(
      file.file().name(), std::vector<std::string>{roots.begin(), roots.end()}, data.allowance_);
  return data;
}

result<void> dwarf_data::open_handles(elf::image& file, with_locations locations) {
  file_name_ = &file.file().name();
  abi_ = file.abi();
  order_ = abi_.order;
  auto copied = TRY(copy_debug_sections(file, *allowance_, locations));
  elf_version(EV_CURRENT);
  if (copied) {
    copy_ = std::make_unique<elf::memory_elf>(std::move(*copied));
    elf_.reset(elf_memory(reinterpret_cast<char*>(copy_->bytes().data()), copy_->bytes().size()));
  } else {
    // A file of this size is mapped. Its creator has paid for the bytes on the disk, because no part is a hole.
    elf_.reset(elf_begin(file.file().descriptor(), ELF_C_READ_MMAP, nullptr));
  }
  if (!elf_) {
    const std::string why = elf_errmsg(-1);
    return fail(
        error{error_code::bad_format, fmt::format("{} cannot be read as ELF: {}", *file_name_, why)}.on(*file_name_));
  }
  if (file.header().type == ET_REL) relocate_debug_sections(elf_.get(), order_);
  return open_dwarf();
}

result<void> dwarf_data::open_dwarf() {
  dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
  if (!dwarf_) return broken("opening it");
  note_sections();
  if (!costs_.take_units()) return too_expensive(*file_name_, "it has too many units");
  return check_strings_end();
}

result<void> dwarf_data::open_shared_file(elf::image& file, const debug_file_search& search,
                                          std::span<const std::string> roots) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(get(), &name, &id);
  if (id_size < 0) return broken("reading the name of the shared debug file (.gnu_debugaltlink)");
  debug_file_wanted wanted{*file_name_, {}, {}, {roots.begin(), roots.end()}};
  std::optional<elf::image> found;
  std::string needed;
  if (id_size > 0) {
    needed = name;
    const auto* bytes = static_cast<const std::byte*>(id);
    wanted.build_id.assign(bytes, bytes + id_size);
    found = find_shared_debug_file(wanted, needed, search);
    if (!found && search.debuginfod) {
      auto served = TRY(ask_debuginfod(wanted.build_id));
      found = std::move(served);
    }
  } else {
    const auto named = supplement_of(file);
    if (!named || named->is_supplementary) return {};
    needed = named->name;
    found = find_supplementary_file(wanted, *named);
  }
  if (!found) {
    return fail(
        error{error_code::not_found,
              fmt::format(
                  "the debug information of {} needs the file {}, which is missing or has another build id or checksum",
                  *file_name_, needed)}
            .on(needed));
  }
  shared_image_ = std::make_unique<elf::image>(std::move(*found));
  shared_.reset(new dwarf_data{allowance_});
  if (auto opened = shared_->open_handles(*shared_image_, with_locations::no); !opened) return opened;
  dwarf_setalt(get(), shared_->get());
  dwarf_setalt(shared_->get(), shared_->get());  // it shares with no further file, and libdw must not search for one
  strings_.insert(strings_.end(), shared_->strings_.begin(), shared_->strings_.end());
  return {};
}

/// libdw measures strings without a check of the section's end, so each section must end with the end of a string.
result<void> dwarf_data::check_strings_end() const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    const std::string_view text{name == nullptr ? "" : name};
    if (!text.ends_with("debug_str") && !text.ends_with("debug_line_str")) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) continue;
    if (static_cast<const char*>(data->d_buf)[data->d_size - 1] == 0) continue;
    return fail(error{
        error_code::bad_format,
        fmt::format("the debug information of {} is broken: its section {} ends within a string", *file_name_, text)}
                    .on(*file_name_));
  }
  return {};
}

/// libdw uses libelf's data of a section, decompressed if it was compressed. This is the same data.
void dwarf_data::note_sections() {
  std::size_t names = 0;
  dwarf_costs::sections counted;
  counted.order = order_;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    std::string_view text{name == nullptr ? "" : name};
    if (!text.starts_with(".debug_") && !text.starts_with(".zdebug_")) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    strings_.emplace_back(static_cast<const char*>(data->d_buf), data->d_size);
    const auto bytes = std::as_bytes(strings_.back());
    text.remove_prefix(text.find('_') + 1);
    if (text == "info") counted.units = bytes;
    if (text == "types") counted.type_units = bytes;
    if (text == "abbrev") counted.abbreviations = bytes;
    if (text == "line") counted.lines = bytes;
    if (text == "addr") addresses_ = strings_.back();
    if (text == "ranges") ranges_ = strings_.back();
    if (text == "loclists") location_lists_ = strings_.back();
    if (text == "loc") old_location_lists_ = strings_.back();
    if (text == "str" || text == "info" || text == "types") names_.push_back(strings_.back());
  }
  costs_ = dwarf_costs{counted, allowance_};
}

result<void> dwarf_data::take_lines(std::uint64_t offset) const {
  if (costs_.take_lines(offset)) return {};
  return too_expensive(*file_name_, "its line tables have too many rows");
}

result<void> dwarf_data::take_unit_of(const Dwarf_Die& entry) const {
  if (entry.cu == nullptr) return {};
  if (home_of(entry).costs_.take_unit(entry.cu)) return {};
  return too_expensive(*file_name_, "its units have too many kinds of entries");
}

result<void> dwarf_data::take_steps(std::uint64_t steps) const {
  if (allowance_->step(steps)) return {};
  return too_expensive(*file_name_, "the search goes through too many entries");
}

result<void> dwarf_data::take_memory(std::uint64_t bytes) const {
  if (allowance_->take(bytes)) return {};
  return too_expensive(*file_name_, "it describes too many things");
}

const dwarf_data& dwarf_data::home_of(const Dwarf_Die& entry) const {
  if (shared_ == nullptr && split_homes_.empty()) return *this;
  Dwarf* const of = dwarf_cu_getdwarf(entry.cu);
  if (of == get()) return *this;
  if (shared_ && of == shared_->get()) return *shared_;
  const auto known = split_homes_.find(of);
  return known == split_homes_.end() ? *this : *known->second;
}

const dwarf_data* dwarf_data::split_part(Dwarf_Die& unit) const {
  if (!costs_.has_split_units() || !split_files_) return nullptr;
  const auto [place, is_new] = split_parts_.try_emplace(dwarf_dieoffset(&unit));
  if (!is_new) return place->second.get();
  const auto skeleton = skeleton_in(*this, unit);
  if (!skeleton) return nullptr;
  std::unique_ptr<dwarf_data> part{new dwarf_data{allowance_}};
  if (auto opened = part->open_split_part(*skeleton, *this); !opened) {
    note_problem(std::move(opened).error());
    return nullptr;
  }
  split_homes_[part->get()] = part.get();
  place->second = std::move(part);
  return place->second.get();
}

result<void> dwarf_data::open_split_part(const skeleton_unit& skeleton, const dwarf_data& home) {
  auto found = TRY(home.split_files_->find(skeleton));
  const auto from = [](extent section, std::uint64_t base) {
    return std::as_bytes(section.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(base, section.size()))));
  };
  split_name_ = found.file->name();
  file_name_ = &split_name_;
  abi_ = home.abi_;
  order_ = abi_.order;
  if (found.file->order() != order_) {
    return fail(error{error_code::bad_format, fmt::format("{} is for another machine", split_name_)}.on(split_name_));
  }
  const skeleton_parts rest{skeleton.low_pc, from(home.addresses_, skeleton.address_base),
                            from(home.ranges_, skeleton.range_base)};
  auto whole = TRY(make_whole_unit(found.unit, rest, abi_, split_name_, *allowance_));
  copy_ = std::make_unique<elf::memory_elf>(std::move(whole));
  elf_.reset(elf_memory(reinterpret_cast<char*>(copy_->bytes().data()), copy_->bytes().size()));
  if (!elf_) return broken("opening its split part");
  return open_dwarf();
}

Dwarf_Die dwarf_data::whole_unit(Dwarf_Die unit) const {
  const dwarf_data* part = split_part(unit);
  Dwarf_CU* first = nullptr;
  Dwarf_Die top;
  if (part == nullptr || dwarf_get_units(part->get(), nullptr, &first, nullptr, nullptr, &top, nullptr) != 0) {
    return unit;
  }
  return top;
}

bool dwarf_data::may_name(std::string_view name) const {
  const std::string terminated = std::string{name} + '\0';
  const auto stands_in = [&](const extent section) {
    return ::memmem(section.data(), section.size(), terminated.data(), terminated.size()) != nullptr;
  };
  if (costs_.has_split_units()) return true;
  return std::any_of(names_.begin(), names_.end(), stands_in) || (shared_ && shared_->may_name(name));
}

std::optional<Dwarf_Die> dwarf_data::follow(Dwarf_Attribute& reference) const {
  Dwarf_Die target;
  const bool into_shared = reference.form == DW_FORM_ref_sup4 || reference.form == DW_FORM_ref_sup8;
  if (!into_shared) {
    if (dwarf_formref_die(&reference, &target) == nullptr || !take_unit_of(target)) return std::nullopt;
    return target;
  }
  // libdw 0.188 searches the file itself for these attributes.
  const auto* value = reinterpret_cast<const char*>(reference.valp);
  const std::size_t size = reference.form == DW_FORM_ref_sup4 ? 4 : 8;
  const bool is_inside = std::any_of(strings_.begin(), strings_.end(), [&](const extent section) {
    return !std::less<>{}(value, section.data()) && section.size() >= size &&
           !std::less<>{}(section.data() + section.size() - size, value);
  });
  if (!shared_ || !is_inside) return std::nullopt;
  const std::uint64_t offset = decode_unsigned(std::as_bytes(std::span{value, size}), order_);
  if (dwarf_offdie(shared_->get(), offset, &target) == nullptr || !take_unit_of(target)) return std::nullopt;
  return target;
}

bool dwarf_data::find_attribute(const Dwarf_Die& entry, unsigned name, Dwarf_Attribute& into) const {
  constexpr int longest_chain = 16;
  Dwarf_Die at = entry;
  for (int step = 0; step < longest_chain; ++step) {
    if (dwarf_attr(&at, name, &into) != nullptr) return true;
    Dwarf_Attribute link;
    if (dwarf_attr(&at, DW_AT_abstract_origin, &link) == nullptr &&
        dwarf_attr(&at, DW_AT_specification, &link) == nullptr) {
      return false;
    }
    const auto next = follow(link);
    if (!next) return false;
    at = *next;
  }
  return false;
}

std::string_view dwarf_data::name_of(Dwarf_Die& entry) const {
  return string_of(entry, DW_AT_name);
}

std::string_view dwarf_data::string_of(const Dwarf_Die& entry, unsigned name) const {
  if (const dwarf_data& home = home_of(entry); &home != this && &home != shared_.get()) {
    return home.string_of(entry, name);
  }
  Dwarf_Attribute attribute;
  const char* text = find_attribute(entry, name, attribute) ? dwarf_formstring(&attribute) : nullptr;
  if (text == nullptr) return {};
  for (const extent section : strings_) {
    const auto* end = section.data() + section.size();
    if (std::less<>{}(text, section.data()) || !std::less<>{}(text, end)) continue;
    const void* terminator = std::memchr(text, 0, std::min(static_cast<std::size_t>(end - text), longest_string));
    if (terminator == nullptr) return {};
    return {text, static_cast<std::size_t>(static_cast<const char*>(terminator) - text)};
  }
  return {};
}

tl::unexpected<error> dwarf_data::broken(std::string_view doing_what) const {
  const char* why = dwarf_errmsg(-1);
  return fail(error{error_code::bad_format, fmt::format("the debug information of {} is broken: {}: {}", *file_name_,
                                                        doing_what, why == nullptr ? "unknown error" : why)}
                  .on(*file_name_));
}

result<void> dwarf_data::visit_units(const std::function<result<bool>(Dwarf_Die&)>& visit) const {
  Dwarf_CU* unit = nullptr;
  for (;;) {
    Dwarf_Die top;
    const int more = dwarf_get_units(get(), unit, &unit, nullptr, nullptr, &top, nullptr);
    if (more < 0) return broken("going through its units");
    if (more > 0) return {};
    auto enough = TRY(visit(top));
    if (enough) return {};
  }
}

result<bool> next_sibling(const dwarf_data& data, Dwarf_Die& entry) {
  const Dwarf_Off before = dwarf_dieoffset(&entry);
  // If an entry has no DW_AT_sibling, libdw goes through all entries below it.
  const bool goes_through = dwarf_haschildren(&entry) > 0 && dwarf_hasattr(&entry, DW_AT_sibling) == 0;
  Dwarf_Die next;
  const int more = dwarf_siblingof(&entry, &next);
  if (more < 0 || (more == 0 && dwarf_dieoffset(&next) <= before)) {
    return data.broken("going through an entry's siblings");
  }
  constexpr std::uint64_t usual_entry = 4;  // bytes, of a small entry
  const std::uint64_t passed = goes_through && more == 0 ? (dwarf_dieoffset(&next) - before) / usual_entry : 0;
  TRY(data.take_steps(1 + passed));
  if (more == 0) entry = next;
  return more == 0;
}

result<void> visit_children(const dwarf_data& data, Dwarf_Die& parent,
                            const std::function<result<bool>(Dwarf_Die&)>& visit) {
  if (auto taken = data.take_unit_of(parent); !taken) return taken;
  Dwarf_Die child;
  const int first = dwarf_child(&parent, &child);
  if (first < 0) return data.broken("going through an entry's children");
  result<bool> more = first == 0;
  while (more && *more) {
    auto enough = TRY(visit(child));
    if (enough) return {};
    more = next_sibling(data, child);
  }
  return more ? result<void>{} : fail(std::move(more).error());
}

result<std::optional<Dwarf_Die>> find_variable(const dwarf_data& data, std::string_view name,
                                               std::optional<std::uint64_t> near) {
  best_match best{data, name};
  if (near) {
    // Uses the units' own address ranges, because not every compiler writes .debug_aranges.
    auto looked = data.visit_units([&](Dwarf_Die& unit) -> result<bool> {
      return dwarf_haspc(&unit, *near) == 1 ? best.look_in(unit) : result<bool>{false};
    });
    if (!looked) return fail(std::move(looked).error());
    if (best.match()) return best.match();
  }
  auto looked = data.visit_units([&](Dwarf_Die& unit) { return best.look_in(unit); });
  if (!looked) return fail(std::move(looked).error());
  return best.match();
}

result<std::optional<Dwarf_Die>> find_type_definition(const dwarf_data& data, int tag, std::string_view name) {
  std::optional<Dwarf_Die> found;
  auto looked = data.visit_units([&](Dwarf_Die& unit) -> result<bool> {
    Dwarf_Die whole = data.whole_unit(unit);
    auto in_unit = visit_children(data, whole, [&](Dwarf_Die& child) -> result<bool> {
      if (dwarf_tag(&child) != tag || is_declaration(child) || data.name_of(child) != name) return false;
      found = child;
      return true;
    });
    if (!in_unit) return fail(std::move(in_unit).error());
    return found.has_value();
  });
  if (!looked) return fail(std::move(looked).error());
  return found;
}

}  // namespace mpiacq::debug_info
