// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_types.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <dwarf.h>

#include "dwarf/dwarf_languages.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

constexpr int deepest_type_scope = 16;
constexpr std::size_t longest_name = 4096;  // with its scopes; the limit on names in queries

/// "struct x" is a query for a tag.
struct asked_name {
  std::string_view name;
  std::optional<int> tag;
};

asked_name parse(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 4> keywords = {{{"struct ", DW_TAG_structure_type},
                                                                         {"class ", DW_TAG_structure_type},
                                                                         {"union ", DW_TAG_union_type},
                                                                         {"enum ", DW_TAG_enumeration_type}}};
  for (const auto& [keyword, tag] : keywords) {
    if (!name.starts_with(keyword)) continue;
    const std::size_t begin = name.find_first_not_of(' ', keyword.size());
    return {begin == std::string_view::npos ? std::string_view{} : name.substr(begin), tag};
  }
  return {name, std::nullopt};
}

/// For queries, struct and class are equal.
int asked_kind(int tag) {
  return tag == DW_TAG_class_type ? DW_TAG_structure_type : tag;
}

/// A name without its scopes, as an entry has it.
std::string_view last_part(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::string in_small_letters(std::string_view name) {
  std::string small{name};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

bool is_type(int tag) {
  switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_base_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

type_index::type_index(const dwarf_data& data)
    : data_(data),
      reader_(data, [this](int tag, std::string_view name) { return definition_of(tag, name); }),
      file_(&data) {}

result<std::optional<structure_layout>> type_index::find(std::string_view name, source_language language) {
  const asked_name asked = parse(name);
  if (asked.name.empty()) return std::nullopt;
  auto found = find_exactly(asked.name, asked.tag);
  if (!found || *found || language != source_language::fortran) return found;
  const std::string small = in_small_letters(asked.name);
  return small == asked.name ? std::move(found) : find_exactly(small, asked.tag);
}

/// A typedef has precedence, as in C; a typedef of an undefined type gives way to a tag.
result<std::optional<structure_layout>> type_index::find_exactly(std::string_view name, std::optional<int> wanted_tag) {
  constexpr std::array order = {DW_TAG_typedef, DW_TAG_base_type, DW_TAG_structure_type, DW_TAG_union_type,
                                DW_TAG_enumeration_type};
  if (!complete_ && !data_.may_name(last_part(name))) return std::nullopt;
  for (;;) {
    for (const int tag : order) {
      if (wanted_tag && tag != *wanted_tag) continue;
      const kept_entry* type = known(name, tag);
      if (type == nullptr) continue;
      // A copy, because the search for the target of a typedef may add to the table.
      auto layout = describe(kept_entry{*type});
      if (!layout || *layout) return layout;
    }
    auto more = TRY(take_next_unit());
    if (!more) return std::nullopt;
  }
}

result<std::optional<structure_layout>> type_index::describe(const kept_entry& type) {
  auto bare = TRY(reader_.bared(type.entry));
  if (!bare) return std::nullopt;  // void
  if (is_structure(bare->tag)) {
    auto complete = TRY(reader_.completed(*bare));
    if (!complete) return std::nullopt;
    return TRY(reader_.layout_of(std::move(*complete)));
  }
  const auto size = reader_.size_of(bare->entry);
  if (!size) return std::nullopt;
  Dwarf_Die named = type.entry;
  structure_layout layout;
  layout.name = std::string{data_.name_of(named)};
  layout.size = *size;
  if (bare->tag == DW_TAG_enumeration_type) layout.enumerators = TRY(reader_.enumerators_of(bare->entry));
  return layout;
}

result<std::optional<Dwarf_Die>> type_index::definition_of(int tag, std::string_view name) {
  for (;;) {
    if (const kept_entry* type = known(name, asked_kind(tag))) return type->entry;
    auto more = TRY(take_next_unit());
    if (!more) return std::nullopt;
  }
}

const type_index::kept_entry* type_index::known(std::string_view name, int tag) const {
  const auto named = entries_.find(name);
  if (named == entries_.end()) return nullptr;
  for (const kept_entry& type : named->second) {
    if (type.tag == tag) return &type;
  }
  return nullptr;
}

/// False if there are no more units.
result<bool> type_index::take_next_unit() {
  if (complete_) return false;
  Dwarf_Die top;
  const int more = dwarf_get_units(file_->get(), unit_, &unit_, nullptr, nullptr, &top, nullptr);
  if (more < 0) {
    complete_ = true;
    return data_.broken("going through its units");
  }
  if (more > 0) {
    unit_ = nullptr;
    file_ = file_ == &data_ ? data_.shared() : nullptr;
    complete_ = file_ == nullptr;
    return !complete_;
  }
  top = file_->whole_unit(top);
  const int language = dwarf_srclang(&top);
  const naming how = is_cpp(language) ? naming::qualified : is_fortran(language) ? naming::fortran : naming::c;
  if (auto taken = take_children(top, how, {}, 0); !taken) {
    complete_ = true;
    return fail(std::move(taken).error());
  }
  return true;
}

result<void> type_index::take_children(Dwarf_Die& parent, naming how, const std::string& scope, int depth) {
  if (depth > deepest_type_scope) return {};
  return visit_children(data_, parent, [&](Dwarf_Die& child) -> result<bool> {
    TRY(take(child, how, scope, depth));
    return false;
  });
}

/// Adds a type, and the types within it: in namespaces, modules, a program, and, in C++, classes. In C, all types of a
/// file are at its top level.
result<void> type_index::take(Dwarf_Die& entry, naming how, const std::string& scope, int depth) {
  const int tag = dwarf_tag(&entry);
  const bool is_scope = tag == DW_TAG_namespace || tag == DW_TAG_module;
  const bool is_program = how == naming::fortran && tag == DW_TAG_subprogram;
  if (!is_type(tag) && !is_scope && !is_program) return {};
  const std::string_view name = data_.name_of(entry);
  if (scope.size() + name.size() > longest_name) return {};
  if (is_type(tag) && !name.empty() && !is_declaration(entry)) {
    constexpr std::uint64_t cost_of_name = 200;  // in `entries_`, with its vector
    if (auto taken = data_.take_memory(cost_of_name + 2 * scope.size()); !taken) return taken;
    if (scope.empty() || how == naming::fortran) keep(name, asked_kind(tag), entry);
    if (!scope.empty()) keep_scoped(scope + std::string{name}, asked_kind(tag), entry);
  }
  if (is_program) return take_children(entry, how, scope, depth + 1);
  if (is_scope && name.empty()) return take_children(entry, how, scope, depth + 1);
  const bool has_inner = is_scope || (how == naming::qualified && is_structure(tag) && !name.empty());
  return has_inner ? take_children(entry, how, scope + std::string{name} + "::", depth + 1) : result<void>{};
}

void type_index::keep_scoped(std::string name, int tag, const Dwarf_Die& entry) {
  const auto known_name = entries_.find(name);
  keep(known_name == entries_.end() ? std::string_view{made_names_.emplace_back(std::move(name))} : known_name->first,
       tag, entry);
}

void type_index::keep(std::string_view name, int tag, const Dwarf_Die& entry) {
  auto& kept = entries_[name];
  if (std::none_of(kept.begin(), kept.end(), [&](const kept_entry& k) { return k.tag == tag; })) {
    kept.push_back({tag, entry});
  }
}

}  // namespace mpiacq::debug_info
