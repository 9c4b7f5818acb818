// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <dwarf.h>

#include "byte_writer.hpp"

namespace mpiacq::test {

/// The kinds of entries that the tests write. Their order is that of the abbreviations below.
enum class entry : unsigned {
  unit = 1,
  variable,           // name, type
  pointer,            // type
  pointer_to_void,    //
  typedef_name,       // name, type
  structure,          // name, size; children
  declared,           // name: a structure without a definition
  member,             // name, type, offset
  old_member,         // name, type, offset as an expression
  anonymous_member,   // type, offset
  bit_field,          // name, type
  base,               // name, size, encoding
  array,              // type
  sibling_structure,  // sibling, size; children
};

/// Builds one DWARF 4 unit, entry after entry; types are named by labels, which may come later.
class dwarf_writer {
 public:
  explicit dwarf_writer(const target_abi& abi) : abi_(abi), out_(abi) {
    out_.word(0).half(4).word(0).byte(abi.pointer_size);  // the length is known at the end
    add(entry::unit);
  }

  dwarf_writer& label(const std::string& name) {
    labels_[name] = out_.size();
    return *this;
  }
  dwarf_writer& add(entry kind) {
    out_.byte(static_cast<unsigned>(kind));
    return *this;
  }
  dwarf_writer& text(std::string_view name) {
    out_.text(name);
    return *this;
  }
  dwarf_writer& byte(unsigned value) {
    out_.byte(value);
    return *this;
  }
  dwarf_writer& refer(const std::string& name) {
    references_.emplace_back(out_.size(), name);
    out_.word(0);
    return *this;
  }
  /// Ends the children of the last structure.
  dwarf_writer& end() { return byte(0); }

  [[nodiscard]] std::vector<std::byte> info() {
    end();
    auto bytes = out_.take();
    encode_integer(bytes.size() - 4, abi_.order, std::span{bytes}.first(4));
    for (const auto& [at, name] : references_) {
      encode_integer(labels_.at(name), abi_.order, std::span{bytes}.subspan(at, 4));
    }
    return bytes;
  }

  [[nodiscard]] static std::vector<std::byte> abbreviations() {
    struct abbreviation {
      entry kind;
      unsigned tag;
      bool children;
      std::vector<std::pair<unsigned, unsigned>> attributes;
    };
    const std::pair<unsigned, unsigned> name{DW_AT_name, DW_FORM_string};
    const std::pair<unsigned, unsigned> type{DW_AT_type, DW_FORM_ref4};
    const std::pair<unsigned, unsigned> size{DW_AT_byte_size, DW_FORM_data1};
    const std::pair<unsigned, unsigned> place{DW_AT_data_member_location, DW_FORM_data1};
    const std::vector<abbreviation> all = {
        {entry::unit, DW_TAG_compile_unit, true, {}},
        {entry::variable, DW_TAG_variable, false, {name, type}},
        {entry::pointer, DW_TAG_pointer_type, false, {type}},
        {entry::pointer_to_void, DW_TAG_pointer_type, false, {}},
        {entry::typedef_name, DW_TAG_typedef, false, {name, type}},
        {entry::structure, DW_TAG_structure_type, true, {name, size}},
        {entry::declared, DW_TAG_structure_type, false, {name, {DW_AT_declaration, DW_FORM_flag_present}}},
        {entry::member, DW_TAG_member, false, {name, type, place}},
        {entry::old_member, DW_TAG_member, false, {name, type, {DW_AT_data_member_location, DW_FORM_block1}}},
        {entry::anonymous_member, DW_TAG_member, false, {type, place}},
        {entry::bit_field, DW_TAG_member, false, {name, type, {DW_AT_bit_size, DW_FORM_data1}}},
        {entry::base, DW_TAG_base_type, false, {name, size, {DW_AT_encoding, DW_FORM_data1}}},
        {entry::array, DW_TAG_array_type, false, {type}},
        {entry::sibling_structure, DW_TAG_structure_type, true, {{DW_AT_sibling, DW_FORM_ref4}, size}}};
    byte_writer out{target_abi{}};
    for (const abbreviation& a : all) {
      out.byte(static_cast<unsigned>(a.kind)).byte(a.tag).byte(a.children ? 1 : 0);
      for (const auto& [attribute, form] : a.attributes) out.byte(attribute).byte(form);
      out.byte(0).byte(0);
    }
    out.byte(0);
    return out.take();
  }

 private:
  target_abi abi_;
  byte_writer out_;
  std::map<std::string, std::size_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> references_;
};

}  // namespace mpiacq::test
