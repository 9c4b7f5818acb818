// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf_data.hpp"

#include <algorithm>
#include <cstring>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include "debug_files.hpp"
#include "dwarf_relocations.hpp"
#include "dwarf_structure.hpp"

namespace mpiacq::debug_info {

namespace {

/// Up to here a file is read, beyond it is mapped: a mapped file that somebody cuts short kills us with SIGBUS, a
/// gigabyte of debug information read in whole takes a second.
constexpr std::uint64_t largest_file_to_read = 256U << 20;

/// All compressed sections of a file together, when they are unfolded.
constexpr std::uint64_t largest_unfolded = std::uint64_t{1} << 32;

result<bool> has_debug_information(elf::image& file) {
  for (const char* name : {".debug_info", ".zdebug_info"}) {
    auto section = file.find_section(name);
    if (!section) return fail(std::move(section).error());
    // In a stripped file whose debug information was split off the section can be left without contents.
    if (*section && (*section)->type != SHT_NOBITS && (*section)->size != 0) return true;
  }
  return false;
}

/// Keeps the first definition; until there is one, the first declaration.
class best_match {
 public:
  best_match(const dwarf_data& data, std::string_view name) : data_(data), name_(name) {}

  /// Looks through a unit's top level; true once a definition is there.
  result<bool> look_in(Dwarf_Die& unit) {
    auto looked = visit_children(data_, unit, [&](Dwarf_Die& child) -> result<bool> {
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
                                                   std::span<const std::string> roots) {
  auto present = has_debug_information(file);
  if (!present) return fail(std::move(present).error());
  if (!*present) return std::nullopt;
  dwarf_data data;
  if (auto opened = data.open_handles(file); !opened) return fail(std::move(opened).error());
  if (auto shared = data.open_shared_file(file, search, roots); !shared) return fail(std::move(shared).error());
  return data;
}

result<void> dwarf_data::open_handles(elf::image& file) {
  elf_version(EV_CURRENT);
  file_name_ = &file.file().name();
  order_ = file.abi().order;
  const auto how = file.file().size() > largest_file_to_read ? ELF_C_READ_MMAP : ELF_C_READ;
  elf_.reset(elf_begin(file.file().descriptor(), how, nullptr));
  if (!elf_) {
    const std::string why = elf_errmsg(-1);
    return fail(
        error{error_code::bad_format, fmt::format("{} cannot be read as ELF: {}", *file_name_, why)}.on(*file_name_));
  }
  if (auto checked = check_compressed_sizes(); !checked) return checked;
  if (file.header().type == ET_REL) {
    if (how != ELF_C_READ) {
      return fail(error{error_code::limit, fmt::format("{} is an object file of more than {} bytes, and is not read",
                                                       *file_name_, largest_file_to_read)}
                      .on(*file_name_));
    }
    relocate_debug_sections(elf_.get(), order_);
  }
  dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
  if (!dwarf_) return broken("opening it");
  note_string_sections();
  return check_strings_end();
}

result<void> dwarf_data::open_shared_file(elf::image& file, const debug_file_search& search,
                                          std::span<const std::string> roots) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(get(), &name, &id);
  if (id_size < 0) return broken("reading the name of the file that it shares with others (.gnu_debugaltlink)");
  debug_file_wanted wanted{*file_name_, {}, {}, {roots.begin(), roots.end()}};
  std::optional<elf::image> found;
  std::string needed;
  if (id_size > 0) {
    needed = name;
    const auto* bytes = static_cast<const std::byte*>(id);
    wanted.build_id.assign(bytes, bytes + id_size);
    found = find_shared_debug_file(wanted, needed, search);
    if (!found && search.debuginfod) {
      auto served = ask_debuginfod(wanted.build_id);
      if (!served) return fail(std::move(served).error());
      found = std::move(*served);
    }
  } else {
    const auto named = supplement_of(file);
    if (!named || named->is_supplementary) return {};
    needed = named->name;
    found = find_supplementary_file(wanted, *named);
  }
  if (!found) {
    return fail(error{error_code::not_found,
                      fmt::format("the debug information of {} needs the file {}, which is not there or is another's",
                                  *file_name_, needed)}
                    .on(needed));
  }
  shared_image_ = std::make_unique<elf::image>(std::move(*found));
  shared_.reset(new dwarf_data);
  if (auto opened = shared_->open_handles(*shared_image_); !opened) return opened;
  dwarf_setalt(get(), shared_->get());
  dwarf_setalt(shared_->get(), shared_->get());  // it shares with no other file, and none is to be looked for
  strings_.insert(strings_.end(), shared_->strings_.begin(), shared_->strings_.end());
  return {};
}

/// libdw unfolds all compressed sections when it opens a file, into as much memory as they claim to need.
result<void> dwarf_data::check_compressed_sizes() const {
  std::uint64_t total = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    GElf_Chdr compressed;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0) continue;
    if (gelf_getchdr(section, &compressed) == nullptr) continue;
    total += std::min<std::uint64_t>(compressed.ch_size, largest_unfolded + 1);
    if (total > largest_unfolded) {
      return fail(
          error{error_code::limit, fmt::format("the compressed debug information of {} claims to have more than "
                                               "{} bytes, and is not read",
                                               *file_name_, largest_unfolded)}
              .on(*file_name_));
    }
  }
  return {};
}

/// libdw measures strings without looking for the end of their section, so that section must end in the end of a
/// string.
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

/// libdw holds the sections by libelf's own data, decompressed where they were compressed: the same that we get here.
void dwarf_data::note_string_sections() {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    const std::string_view text{name == nullptr ? "" : name};
    if (!text.starts_with(".debug_") && !text.starts_with(".zdebug_")) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    strings_.emplace_back(static_cast<const char*>(data->d_buf), data->d_size);
    if (text == ".debug_line" || text == ".zdebug_line") line_programs_ = strings_.back();
    if (text.ends_with("debug_str") || text.ends_with("debug_info") || text.ends_with("debug_types")) {
      names_.push_back(strings_.back());
    }
  }
}

bool dwarf_data::may_name(std::string_view name) const {
  const std::string terminated = std::string{name} + '\0';
  const auto stands_in = [&](const extent section) {
    return ::memmem(section.data(), section.size(), terminated.data(), terminated.size()) != nullptr;
  };
  return std::any_of(names_.begin(), names_.end(), stands_in) || (shared_ && shared_->may_name(name));
}

std::optional<Dwarf_Die> dwarf_data::follow(Dwarf_Attribute& reference) const {
  Dwarf_Die target;
  const bool into_shared = reference.form == DW_FORM_ref_sup4 || reference.form == DW_FORM_ref_sup8;
  if (!into_shared) {
    if (dwarf_formref_die(&reference, &target) == nullptr) return std::nullopt;
    return target;
  }
  // libdw 0.188 looks for these in the file itself.
  const auto* value = reinterpret_cast<const char*>(reference.valp);
  const std::size_t size = reference.form == DW_FORM_ref_sup4 ? 4 : 8;
  const bool is_inside = std::any_of(strings_.begin(), strings_.end(), [&](const extent section) {
    return !std::less<>{}(value, section.data()) && section.size() >= size &&
           !std::less<>{}(section.data() + section.size() - size, value);
  });
  if (!shared_ || !is_inside) return std::nullopt;
  const std::uint64_t offset = decode_unsigned(std::as_bytes(std::span{value, size}), order_);
  if (dwarf_offdie(shared_->get(), offset, &target) == nullptr) return std::nullopt;
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
  Dwarf_Attribute attribute;
  const char* text = find_attribute(entry, name, attribute) ? dwarf_formstring(&attribute) : nullptr;
  if (text == nullptr) return {};
  for (const extent section : strings_) {
    const auto* end = section.data() + section.size();
    if (std::less<>{}(text, section.data()) || !std::less<>{}(text, end)) continue;
    const void* terminator = std::memchr(text, 0, static_cast<std::size_t>(end - text));
    if (terminator == nullptr) return {};
    return {text, static_cast<std::size_t>(static_cast<const char*>(terminator) - text)};
  }
  return {};
}

std::uint64_t dwarf_data::line_program_size(std::uint64_t offset) const {
  const auto word = [&](std::uint64_t at, std::size_t size) -> std::uint64_t {
    if (at > line_programs_.size() || size > line_programs_.size() - at) return 0;
    return decode_unsigned(std::as_bytes(line_programs_.subspan(static_cast<std::size_t>(at), size)), order_);
  };
  constexpr std::uint64_t wide_follows = 0xffffffff;
  const std::uint64_t size = word(offset, 4);
  // libdw reads no further than the section reaches.
  return std::min<std::uint64_t>(size == wide_follows ? word(offset + 4, 8) : size, line_programs_.size());
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
    auto enough = visit(top);
    if (!enough) return fail(std::move(enough).error());
    if (*enough) return {};
  }
}

result<void> visit_children(const dwarf_data& data, Dwarf_Die& parent,
                            const std::function<result<bool>(Dwarf_Die&)>& visit) {
  Dwarf_Die child;
  int more = dwarf_child(&parent, &child);
  while (more == 0) {
    auto enough = visit(child);
    if (!enough) return fail(std::move(enough).error());
    if (*enough) return {};
    // A sibling that does not come later in the file would lead round in circles.
    const Dwarf_Off before = dwarf_dieoffset(&child);
    more = dwarf_siblingof(&child, &child);
    if (more == 0 && dwarf_dieoffset(&child) <= before) return data.broken("going through an entry's siblings");
  }
  if (more < 0) return data.broken("going through an entry's children");
  return {};
}

result<std::optional<Dwarf_Die>> find_variable(const dwarf_data& data, std::string_view name,
                                               std::optional<std::uint64_t> near) {
  best_match best{data, name};
  if (near) {
    // The units' own address ranges, because not every compiler writes .debug_aranges.
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
    auto in_unit = visit_children(data, unit, [&](Dwarf_Die& child) -> result<bool> {
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
