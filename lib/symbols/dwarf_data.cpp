// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf_data.hpp"

#include <dwarf.h>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::debug_info {

namespace {

/// Up to here a file is read, beyond it is mapped: a mapped file that somebody cuts short kills us with SIGBUS, a
/// gigabyte of debug information read in whole takes a second.
constexpr std::uint64_t largest_file_to_read = 256U << 20;

result<bool> has_debug_information(elf::image& file) {
  for (const char* name : {".debug_info", ".zdebug_info"}) {
    auto section = file.find_section(name);
    if (!section) return fail(std::move(section).error());
    // In a stripped file whose debug information was split off the section can be left without contents.
    if (*section && (*section)->type != SHT_NOBITS && (*section)->size != 0) return true;
  }
  return false;
}

std::string_view name_of(Dwarf_Die& entry) {
  const char* name = dwarf_diename(&entry);
  return name == nullptr ? std::string_view{} : std::string_view{name};
}

/// A declaration says of the type what its own file knows, which may be less than the definition's.
bool is_declaration(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  bool flag = false;
  return dwarf_attr(&entry, DW_AT_declaration, &attribute) != nullptr && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

/// Keeps the first definition; until there is one, the first declaration.
class best_match {
 public:
  best_match(const dwarf_data& data, std::string_view name) : data_(data), name_(name) {}

  /// Looks through a unit's top level; true once a definition is there.
  result<bool> look_in(Dwarf_Die& unit) {
    auto looked = visit_children(data_, unit, [&](Dwarf_Die& child) -> result<bool> {
      if (dwarf_tag(&child) != DW_TAG_variable || name_of(child) != name_) return false;
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

result<std::optional<dwarf_data>> dwarf_data::open(elf::image& file) {
  auto present = has_debug_information(file);
  if (!present) return fail(std::move(present).error());
  if (!*present) return std::nullopt;

  elf_version(EV_CURRENT);
  dwarf_data data;
  data.file_name_ = &file.file().name();
  const auto how = file.file().size() > largest_file_to_read ? ELF_C_READ_MMAP : ELF_C_READ;
  data.elf_.reset(elf_begin(file.file().descriptor(), how, nullptr));
  if (!data.elf_) {
    return fail(
        error{error_code::bad_format, fmt::format("{} cannot be read as ELF: {}", file.file().name(), elf_errmsg(-1))}
            .on(file.file().name()));
  }
  data.dwarf_.reset(dwarf_begin_elf(data.elf_.get(), DWARF_C_READ, nullptr));
  if (!data.dwarf_) return data.broken("opening it");
  return data;
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
    more = dwarf_siblingof(&child, &child);
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
      if (dwarf_tag(&child) != tag || is_declaration(child) || name_of(child) != name) return false;
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
