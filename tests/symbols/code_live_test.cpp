// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Running programs that print the names of their own places, compared with the catalogue.
#include "code_program.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Every place has the names that the program prints: all functions and the innermost line.
void check_with_lines(const std::string& name) {
  INFO(name);
  code_program program{code_fixture(name)};
  REQUIRE_FALSE(program.told.empty());
  code_catalogue catalogue{code_search()};
  const code_map map = program.map();
  for (const told_place& told : program.told) {
    const auto places = catalogue.places(map, told.pc, true);
    CHECK(functions_of(*places) == told.functions);
    CHECK(places->front()->line == told.line);
    CHECK(std::filesystem::path(places->front()->file).is_absolute());
    CHECK(places->front()->module_path == std::filesystem::canonical(code_fixture(name)).string());
  }
  CHECK(text_of(catalogue.problems()).empty());
}

/// Without debug information, only the compiled function has a name.
void check_outermost(const std::string& name, const std::vector<std::string>& unknown) {
  INFO(name);
  code_program program{code_fixture(name)};
  REQUIRE_FALSE(program.told.empty());
  code_catalogue catalogue{code_search()};
  const code_map map = program.map();
  for (const told_place& told : program.told) {
    const auto places = catalogue.places(map, told.pc, true);
    REQUIRE(places->size() == 1);
    const std::string& function = told.functions.back();
    const bool is_known = std::find(unknown.begin(), unknown.end(), function) == unknown.end();
    CHECK(places->front()->function == (is_known ? function : ""));
    CHECK(places->front()->line == 0);
    CHECK((places->front()->offset.value() == 0) == is_known);
  }
}

}  // namespace

TEST_CASE("calls that were inlined three deep are separate places with lines") {
  for (const char* name : {"inlined", "inlined_dwarf4", "inlined_non_pie", "inlined_static", "inlined_compressed",
                           "inlined_lto", "sections", "no_id"}) {
    check_with_lines(name);
  }
}

TEST_CASE("the line of a caller is the line of the inlined call") {
  code_program program{code_fixture("inlined")};
  code_catalogue catalogue{code_search()};
  const code_map map = program.map();
  const auto places = catalogue.places(map, program.told.front().pc, true);
  REQUIRE(places->size() == 4);
  // The source is the oracle.
  std::vector<std::string> source;
  {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen((*places)[0]->file.c_str(), "r"), &std::fclose};
    REQUIRE(file);
    char line[512];
    while (std::fgets(line, sizeof line, file.get()) != nullptr) source.emplace_back(line);
  }
  const char* calls[] = {"here(", "inner(x + i)", "middle(x * 3)", "outer(x)"};
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE((*places)[i]->line <= source.size());
    CHECK_THAT(source[(*places)[i]->line - 1], ContainsSubstring(calls[i]));
  }
}

TEST_CASE("C++ functions have the names of the source") {
  for (const char* name : {"names", "names_dwarf4"}) check_with_lines(name);
  check_outermost("names_symtab", {});
}

TEST_CASE("debug information in a separate file is found by its build id, and by a link") {
  check_with_lines("split_by_id");
  check_with_lines("split_by_link");
}

TEST_CASE("debug information that two programs share is read from both files") {
#ifdef MPIACQ_HAVE_DWZ_CODE
  check_with_lines("dwz_inlined");
  check_with_lines("dwz_names");
#else
  MPIACQ_SKIP("dwz is not installed");
#endif
}

TEST_CASE("code of clang has names, too") {
#ifdef MPIACQ_HAVE_CLANG_CODE
  check_with_lines("clang_inlined");
  check_with_lines("clang_sections");
#else
  MPIACQ_SKIP("clang is not installed");
#endif
}

TEST_CASE("Fortran procedures have the names of the source") {
#ifdef MPIACQ_HAVE_GFORTRAN
  check_with_lines("heat");
#else
  MPIACQ_SKIP("gfortran is not installed");
#endif
}

TEST_CASE("without debug information the symbols name the functions") {
  check_outermost("symtab_only", {});
  check_outermost("dynsym_only", {"work", "helper"});
  check_outermost("no_symbols", {"work", "helper", "same_names_elsewhere", "main"});
}
