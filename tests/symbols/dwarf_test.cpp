// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Debug information that compilers do not write, and files of other classes and byte orders.
#include <elf.h>

#include "byte_writer.hpp"
#include "catch.hpp"
#include "description.hpp"
#include "dwarf_writer.hpp"
#include "elf_writer.hpp"
#include "mpiacq/process/process_symbols.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const target_abi native = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
const target_abi big_32 = abi_of_elf(ELFCLASS32, ELFDATA2MSB, EM_PPC);

/// Of the structure that MPIR_proctable points to, or of the one called `tag`.
result<std::optional<structure_layout>> layout_from(std::vector<std::byte> info, const target_abi& abi = native,
                                                    std::string_view tag = {}) {
  own_folder folder;
  elf_writer file{abi};
  file.add_dynamic_variable("MPIR_proctable", 0x4242);
  file.add({".debug_abbrev", SHT_PROGBITS, dwarf_writer::abbreviations()});
  file.add({".debug_info", SHT_PROGBITS, std::move(info)});
  file.write_to(folder / "made");
  auto symbols = file_symbols::open(folder / "made", {{}, false});
  if (!symbols) FAIL(symbols.error().message);
  const auto table = (*symbols)->find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  CHECK((*table)->address() == target_address{0x4242});
  CHECK((*symbols)->abi() == abi);
  if (!tag.empty()) return (*symbols)->structure_named(tag, **table);
  return (*symbols)->layout_pointed_to_by(**table, nullptr);
}

/// A unit with `MPIR_proctable`, of the type labelled "table".
dwarf_writer unit(const target_abi& abi = native) {
  dwarf_writer w{abi};
  w.add(entry::variable).text("MPIR_proctable").refer("table");
  w.label("int").add(entry::base).text("int").byte(4).byte(DW_ATE_signed);
  return w;
}

void check_refused(dwarf_writer& w, const std::string& why) {
  const auto layout = layout_from(w.info());
  REQUIRE_FALSE(layout.has_value());
  CHECK(layout.error().code == error_code::bad_format);
  CHECK_THAT(layout.error().message, ContainsSubstring(why));
}

}  // namespace

TEST_CASE("types are read in another byte order, with the offsets of DWARF 2, in any order") {
  for (const target_abi& abi : {native, big_32}) {
    auto w = unit(abi);
    w.label("string").add(entry::pointer).refer("int");
    w.label("s").add(entry::structure).text("odd").byte(200);
    w.add(entry::old_member).text("pid").refer("int").byte(3).byte(DW_OP_plus_uconst).byte(0x80).byte(0x01);
    w.add(entry::old_member).text("host_name").refer("string").byte(2).byte(DW_OP_plus_uconst).byte(8);
    w.add(entry::bit_field).text("bits").refer("int").byte(3);
    w.end();
    w.label("table").add(entry::pointer).refer("s");
    const auto layout = layout_from(w.info(), abi);
    REQUIRE((layout && *layout));
    CHECK((*layout)->name == "odd");
    CHECK((*layout)->size == 200);
    CHECK((*layout)->members.size() == 2);
    REQUIRE((*layout)->find("pid") != nullptr);
    CHECK((*layout)->find("pid")->offset == 128);
    CHECK((*layout)->find("pid")->is_signed);
    REQUIRE((*layout)->find("host_name") != nullptr);
    CHECK((*layout)->find("host_name")->offset == 8);
    CHECK((*layout)->find("host_name")->size == abi.pointer_size);
    CHECK((*layout)->find("host_name")->is_pointer);
  }
}

TEST_CASE("a table that is an array of structures has their layout") {
  auto w = unit();
  w.label("s").add(entry::structure).text("row").byte(4);
  w.add(entry::member).text("pid").refer("int").byte(0).end();
  w.label("table").add(entry::array).refer("s");
  const auto layout = layout_from(w.info());
  REQUIRE((layout && *layout));
  CHECK((*layout)->size == 4);
}

TEST_CASE("a structure without a variable is found by its tag") {
  auto w = unit();
  w.label("table").add(entry::pointer).refer("int");
  w.add(entry::declared).text("row");
  w.add(entry::structure).text("row").byte(20);
  w.add(entry::member).text("pid").refer("int").byte(16).end();
  const auto info = w.info();
  const auto layout = layout_from(info, native, "row");
  REQUIRE((layout && *layout));
  CHECK((*layout)->name == "row");
  CHECK((*layout)->size == 20);
  CHECK((*layout)->find("pid")->offset == 16);
  CHECK((*layout)->source == layout_source::dwarf);
  const auto other = layout_from(info, native, "int");
  REQUIRE(other.has_value());
  CHECK_FALSE(other->has_value());
}

TEST_CASE("a structure that is only declared is not known") {
  auto w = unit();
  w.label("s").add(entry::declared).text("hidden");
  w.label("table").add(entry::pointer).refer("s");
  const auto layout = layout_from(w.info());
  REQUIRE(layout.has_value());
  CHECK_FALSE(layout->has_value());
}

TEST_CASE("a variable without debug information has no layout") {
  dwarf_writer w{native};
  w.add(entry::base).text("int").byte(4).byte(DW_ATE_signed);
  const auto layout = layout_from(w.info());
  REQUIRE(layout.has_value());
  CHECK_FALSE(layout->has_value());
}

TEST_CASE("a cycle of types is refused") {
  auto w = unit();
  w.label("table").add(entry::pointer).refer("a");
  w.label("a").add(entry::typedef_name).text("a").refer("b");
  w.label("b").add(entry::typedef_name).text("b").refer("a");
  check_refused(w, "a typedef of itself");
}

TEST_CASE("a structure that contains itself is refused, at any depth") {
  auto w = unit();
  w.label("s").add(entry::structure).text("s").byte(8);
  w.add(entry::anonymous_member).refer("s").byte(0).add(entry::anonymous_member).refer("s").byte(0).end();
  w.label("table").add(entry::pointer).refer("s");
  check_refused(w, "nested in itself");
}

TEST_CASE("a variable that points to no structure is refused") {
  SECTION("to void") {
    auto w = unit();
    w.label("table").add(entry::pointer_to_void);
    check_refused(w, "MPIR_proctable is a pointer to void");
  }
  SECTION("to an integer") {
    auto w = unit();
    w.label("table").add(entry::pointer).refer("int");
    check_refused(w, "a pointer to something else");
  }
  SECTION("to nothing: an integer") {
    auto w = unit();
    w.label("table").add(entry::typedef_name).text("t").refer("int");
    check_refused(w, "neither a pointer nor an array");
  }
}

TEST_CASE("a member outside of its structure is refused") {
  SECTION("that begin behind it") {
    auto w = unit();
    w.label("s").add(entry::structure).text("s").byte(8);
    w.add(entry::member).text("far").refer("int").byte(9).end();
    w.label("table").add(entry::pointer).refer("s");
    check_refused(w, "outside of its structure");
  }
  SECTION("that reach beyond it") {
    auto w = unit();
    w.label("s").add(entry::structure).text("s").byte(8);
    w.add(entry::member).text("long").refer("int").byte(6).end();
    w.label("table").add(entry::pointer).refer("s");
    check_refused(w, "beyond the end");
  }
  SECTION("whose offset is no constant, or has no end") {
    auto w = unit();
    w.label("s").add(entry::structure).text("s").byte(8);
    w.add(entry::old_member).text("m").refer("int").byte(1).byte(DW_OP_dup).end();
    w.label("table").add(entry::pointer).refer("s");
    check_refused(w, "no constant offset");
    auto endless = unit();
    endless.label("s").add(entry::structure).text("s").byte(8);
    endless.add(entry::old_member).text("m").refer("int").byte(2).byte(DW_OP_plus_uconst).byte(0x80).end();
    endless.label("table").add(entry::pointer).refer("s");
    check_refused(endless, "has no end");
  }
}

TEST_CASE("debug information that contradicts itself is refused") {
  SECTION("a sibling that lies before its entry") {
    dwarf_writer w{native};
    w.label("int").add(entry::base).text("int").byte(4).byte(DW_ATE_signed);
    w.add(entry::sibling_structure).refer("int").byte(4).end();
    w.add(entry::variable).text("MPIR_proctable").refer("int");
    check_refused(w, "is broken");
  }
  SECTION("a reference out of its unit") {
    dwarf_writer w{native};
    w.add(entry::variable).text("MPIR_proctable").byte(0xff).byte(0xff).byte(0xff).byte(0x7f);
    check_refused(w, "is broken");
  }
  SECTION("a name that runs out of its section") {
    auto w = unit();
    w.label("table").add(entry::pointer).refer("int");
    w.add(entry::variable);
    for (const char c : std::string_view{"MPIR_proctable"}) w.byte(static_cast<unsigned char>(c));
    auto info = w.info();
    info.pop_back();  // the zero that would end it
    info[0] = static_cast<std::byte>(std::to_integer<unsigned>(info[0]) - 1);
    CHECK_FALSE(layout_from(std::move(info)).has_value());
  }
  SECTION("a unit longer than its section") {
    auto w = unit();
    w.label("table").add(entry::pointer).refer("int");
    auto info = w.info();
    info[3] = std::byte{0x70};
    const auto layout = layout_from(std::move(info));
    if (layout) {
      CHECK_FALSE(layout->has_value());
    } else {
      CHECK(layout.error().code == error_code::bad_format);
    }
  }
}
