// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Live fixtures, compared with what they print about themselves.
#include <array>
#include <filesystem>
#include <optional>

#include "observed_program.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct variant {
  const char* name;
  std::optional<layout_source> layout;
  bool has_symbol_table = true;
};

std::vector<variant> variants() {
  const auto own = layout_source::dwarf;
  std::vector<variant> all = {{"pie", own},
                              {"non_pie", own},
                              {"static", own},
                              {"static_pie", own},
                              {"dwarf4", own},
                              {"dwarf5", own},
                              {"unoptimised_dwarf4", own},
                              {"compressed", own},
                              {"type_units", own},
                              {"anonymous", own},
                              {"extended", own},
                              {"extended_dwarf4", own},
                              {"qualified", own},
                              {"nested", own},
                              {"opaque", own},
                              {"in_library", own},
                              {"in_library_rpath", own},
                              {"copies", own},
                              {"stripped", std::nullopt, false},
                              {"hash_gnu", std::nullopt, false},
                              {"hash_system_v", std::nullopt, false},
                              {"hash_both", std::nullopt, false},
                              {"split_by_id", layout_source::debug_file},
                              {"split_by_link", layout_source::debug_file}};
#ifdef MPIACQ_HAVE_CLANG_FIXTURE
  all.push_back({"clang_built", own});
#endif
#ifdef MPIACQ_HAVE_32_BIT_LIBC
  for (const char* name : {"pie_32", "non_pie_32", "static_32"}) all.push_back({name, own});
  all.push_back({"stripped_32", std::nullopt, false});
#endif
#ifdef MPIACQ_HAVE_MUSL
  for (const char* name : {"musl", "musl_static", "musl_static_pie"}) all.push_back({name, own});
#endif
#ifdef MPIACQ_HAVE_DWZ_FIXTURE
  for (const char* name : {"dwz_built", "dwz_dwarf5", "dwz_sup"}) all.push_back({name, own});
#endif
  return all;
}

}  // namespace

TEST_CASE("every kind of program has its symbols at the addresses that it prints") {
  for (const variant& v : variants()) {
    INFO(v.name);
    observed seen{{fixture(v.name)}};
    check_symbols(*seen.symbols, seen.told.symbols);
    if (v.has_symbol_table) check_symbols(*seen.symbols, seen.told.local_symbols);
    CHECK(all_problems(*seen.symbols).empty());
  }
}

TEST_CASE("every kind of program has the layout of its descriptor that the program prints") {
  for (const variant& v : variants()) {
    INFO(v.name);
    observed seen{{fixture(v.name)}};
    const auto layout = layout_of_table(*seen.symbols);
    REQUIRE(layout.has_value() == v.layout.has_value());
    if (!layout) continue;
    CHECK(layout->source == *v.layout);
    CHECK(layout->debug_file.empty() == (*v.layout == layout_source::dwarf));
    check_layout(*layout, seen.told.layout);
  }
}

TEST_CASE("the copy of a library's variable belongs to the program, and its type to the library") {
  observed seen{{fixture("copies")}};
  const auto table = seen.symbols->find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  CHECK((*table)->home->is_executable);
  const auto layout = layout_of_table(*seen.symbols);
  REQUIRE(layout.has_value());
  CHECK_THAT(layout->module_path, ContainsSubstring("libmpir_fixture.so"));
}

TEST_CASE("if two modules define the same symbols, the look-up agrees with the program's own binding") {
  observed seen{{"env", "LD_PRELOAD=" + fixture("libmpir_newer_no_id.so"), fixture("in_library")}};
  const auto modules = seen.symbols->modules();
  CHECK(std::count_if(modules.begin(), modules.end(),
                      [](const auto& m) { return m->path.find("libmpir_") != std::string::npos; }) == 2);
  // The program prints the targets of its own references.
  check_symbols(*seen.symbols, seen.told.symbols);
  const auto breakpoint = seen.symbols->find_symbol("MPIR_Breakpoint");
  REQUIRE((breakpoint && *breakpoint));
  CHECK_THAT((*breakpoint)->home->path, ContainsSubstring("libmpir_newer_no_id.so"));
  // A look-up in one module gives the symbols of that module.
  const auto older = std::find_if(modules.begin(), modules.end(), [](const auto& m) {
    return m->path.find("libmpir_fixture.so") != std::string::npos;
  });
  REQUIRE(older != modules.end());
  constexpr std::array<std::string_view, 2> names = {"MPIR_Breakpoint", "only_in_the_newer"};
  const auto in_older = seen.symbols->look_up(names, {false, older->get()});
  REQUIRE((in_older && (*in_older)[0]));
  CHECK((*in_older)[0]->home == *older);
  CHECK((*in_older)[0]->address() != (*breakpoint)->address());
  CHECK_FALSE((*in_older)[1].has_value());
}

TEST_CASE("a program that was started through the dynamic linker has its symbols") {
  const observed plain{{fixture("in_library")}};
  const auto modules = plain.symbols->modules();
  const auto linker = std::find_if(modules.begin(), modules.end(), [](const auto& m) {
    return std::filesystem::path(m->path).filename().string().starts_with("ld");
  });
  REQUIRE(linker != modules.end());

  observed seen{{(*linker)->path, fixture("in_library")}};
  check_symbols(*seen.symbols, seen.told.symbols);
  CHECK(seen.symbols->link_map_breakpoint().has_value());
}

TEST_CASE("a 32-bit program is read with its own widths") {
#if defined(MPIACQ_HAVE_32_BIT_FIXTURE) && defined(MPIACQ_HAVE_32_BIT_LIBC)
  observed seen{{fixture("i386")}};
  CHECK(seen.symbols->abi().pointer_size == 4);
  CHECK(seen.symbols->entry_point().value() == look_up(*seen.symbols, {{"_start", {}}})[0].value().address().value());
  check_symbols(*seen.symbols, seen.told.symbols);
  const auto layout = layout_of_table(*seen.symbols);
  REQUIRE(layout.has_value());
  CHECK(layout->size == 12);
#else
  MPIACQ_SKIP("this machine runs no programs of 32 bits, or lacks their C library (libc6-dev-i386)");
#endif
}

TEST_CASE("the modules are the executable and the dynamic linker's libraries, in the linker's order") {
  observed seen{{fixture("in_library")}};
  const auto modules = seen.symbols->modules();
  REQUIRE(modules.size() >= 4);
  CHECK(modules[0]->is_executable);
  CHECK(modules[0]->path == std::filesystem::canonical(fixture("in_library")).string());
  CHECK(std::count_if(modules.begin(), modules.end(), [](const auto& m) { return m->is_executable; }) == 1);
  const auto library = std::find_if(modules.begin(), modules.end(), [](const auto& m) {
    return std::filesystem::path(m->path).filename() == "libmpir_fixture.so";
  });
  REQUIRE(library != modules.end());
  CHECK((*library)->build_id.size() == 20);
  const auto table = seen.symbols->find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  CHECK(seen.symbols->link_map_breakpoint().has_value());
}

TEST_CASE("a static program has one module and no link map") {
  observed seen{{fixture("static")}};
  CHECK(seen.symbols->modules().size() == 1);
  CHECK_FALSE(seen.symbols->link_map_breakpoint().has_value());
  CHECK(seen.symbols->refresh().value() == false);
}

TEST_CASE("a static position-independent program has no library, even if its link map lists the vDSO") {
  observed seen{{fixture("static_pie")}};
  for (const auto& m : seen.symbols->modules().subspan(1)) CHECK_THAT(m->path, ContainsSubstring("vdso"));
  CHECK(seen.symbols->modules().size() <= 2);
}

TEST_CASE("a name that no module has is absent without an error") {
  observed seen{{fixture("nothing")}};
  const auto found = seen.symbols->find_symbol("MPIR_proctable");
  REQUIRE(found.has_value());
  CHECK_FALSE(found->has_value());
}

TEST_CASE("a library that is mapped and unmapped later comes and goes") {
  observed seen{{fixture("loader"), fixture("libmpir_fixture.so")}};
  CHECK_FALSE(seen.symbols->find_symbol("MPIR_proctable").value().has_value());
  CHECK(seen.symbols->refresh().value() == false);
  const std::size_t before = seen.symbols->modules().size();

  seen.process.tell('o');
  const description opened{seen.process.lines_until_ready()};
  CHECK(seen.symbols->refresh().value() == true);
  CHECK(seen.symbols->modules().size() == before + 1);
  const auto table = seen.symbols->find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  CHECK((*table)->address().value() == opened.symbols.at("MPIR_proctable").address);

  seen.process.tell('c');
  seen.process.lines_until_ready();
  CHECK(seen.symbols->refresh().value() == true);
  CHECK(seen.symbols->modules().size() == before);
  CHECK_FALSE(seen.symbols->find_symbol("MPIR_proctable").value().has_value());
  // The symbol keeps its module, but the module has no more answers.
  CHECK_FALSE((*table)->home->path.empty());
  CHECK_FALSE(seen.symbols->layout_pointed_to_by(**table, nullptr).value().has_value());
}

TEST_CASE("a deleted executable keeps its symbols and types") {
  own_folder folder;
  const std::string program = folder / "an odd\nname (deleted)";
  std::filesystem::copy_file(fixture("pie"), program);
  live_process process{{program}};
  const description told{process.lines_until_ready()};
  std::filesystem::remove(program);
  live_memory memory{process.pid()};
  auto symbols = process_symbols::open(process.pid(), memory, fixture_search());
  REQUIRE(symbols.has_value());
  check_all(**symbols, told);
}

TEST_CASE("a deleted or replaced library keeps its dynamic symbols") {
  own_folder folder;
  const std::string library = folder / "libmpir_fixture.so";
  std::filesystem::copy_file(fixture("in_library"), folder / "with a library");
  std::filesystem::copy_file(fixture("libmpir_fixture.so"), library);
  live_process process{{folder / "with a library"}};
  const description told{process.lines_until_ready()};
  std::filesystem::remove(library);
  SECTION("deleted") {}
  SECTION("replaced") {
    std::filesystem::copy_file(fixture("tiny"), library);
  }
  live_memory memory{process.pid()};
  auto symbols = process_symbols::open(process.pid(), memory, fixture_search());
  REQUIRE(symbols.has_value());
  check_symbols(**symbols, told.symbols);
  const auto layout = layout_of_table(**symbols);
  // The kernel's link to the mapped file needs root's rights; without them there is a problem, and no layout.
  if (layout) {
    check_layout(*layout, told.layout);
    CHECK(all_problems(**symbols).empty());
  } else {
    CHECK_THAT(all_problems(**symbols), ContainsSubstring("libmpir_fixture.so"));
  }
}

TEST_CASE("a look-up takes few reads, whatever the number of names") {
  observed seen{{fixture("in_library")}};
  const std::size_t modules = seen.symbols->modules().size();
  // One read for each module of the list, and a constant number for headers, names and first pages.
  CHECK(seen.memory.calls <= modules + 8);
  const std::size_t opening = seen.memory.calls;
  check_symbols(*seen.symbols, seen.told.symbols);
  // A module without the names costs reads of its dynamic section, its hash table's header and its Bloom filter.
  CHECK(seen.memory.calls - opening <= 3 * modules + 8 + 2 * seen.told.symbols.size());
  const std::size_t first = seen.memory.calls;
  check_symbols(*seen.symbols, seen.told.symbols);
  CHECK(seen.memory.calls - first <= modules + 8 + 2 * seen.told.symbols.size());
  CHECK(seen.memory.bytes < 64 * read_page_size);
}

TEST_CASE("the errors for a missing process and an ended process differ from the error for a bad process") {
  live_memory no_memory{process_id{1}};
  const auto absent = process_symbols::open(process_id{0x7ffffffe}, no_memory);
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().code == error_code::process_gone);

  observed seen{{fixture("in_library")}};
  seen.process.end();
  const auto found = seen.symbols->find_symbol("MPIR_proctable");
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == error_code::process_gone);
}
