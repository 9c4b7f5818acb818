// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Hundreds of addresses of each fixture and of the C library, compared with binutils' addr2line.
#include "code_oracle.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("functions and lines of the fixtures are equal to those of addr2line or llvm-symbolizer") {
  std::vector<std::string> fixtures = {"inlined",  "inlined_dwarf4", "inlined_non_pie", "inlined_compressed",
                                       "sections", "names",          "names_dwarf4",    "names_symtab",
                                       "no_id",    "symtab_only"};
#ifdef MPIACQ_HAVE_CLANG_CODE
  if (!by_llvm_symbolizer(code_fixture("clang_inlined"), {0}).empty()) {
    fixtures.insert(fixtures.end(), {"clang_inlined", "clang_sections"});
  }
#endif
  for (const std::string& name : fixtures) {
    const std::string path = code_fixture(name);
    std::vector<symbol_line> functions = functions_by_nm(path, false);
    REQUIRE_FALSE(functions.empty());
    const tally t = hold_against_both(path, functions, 300);
    INFO(name << ": " << t.agreed << " of " << t.compared << " agree; first difference: " << t.first_difference);
    CHECK(t.compared >= 50);
    CHECK(t.agreed == t.compared);
  }
}

TEST_CASE("functions of the C library have the names of its dynamic symbols") {
  Dl_info where{};
  REQUIRE(::dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &where) != 0);
  const std::string path = std::filesystem::canonical(where.dli_fname);
  const auto functions = functions_by_nm(path, true);
  REQUIRE(functions.size() > 1000);
  std::map<std::uint64_t, std::set<std::string>> known;  // every name at an address is accepted
  for (const symbol_line& f : functions) known[f.address].insert(plain(f.name));
  elf::code_names names{open_image(path), path, {}};
  std::vector<error> problems;
  std::size_t compared = 0;
  for (const symbol_line& f : functions) {
    if (f.size < 2 || ++compared > 800) continue;
    const auto places = names.describe(f.address + f.size / 2, {{}, false}, problems);
    REQUIRE_FALSE(places.empty());
    INFO(f.name << " at " << std::hex << f.address << ": " << places.back().function);
    CHECK(known[f.address].contains(places.back().function));
  }
  CHECK(compared > 500);
}

TEST_CASE("a stub of the procedure linkage table has the name of its target") {
  if (open_image(code_fixture("inlined"))->abi().elf_machine != EM_X86_64) MPIACQ_SKIP("stubs are read for x86-64");
  const std::string path = code_fixture("inlined");
  // objdump derives the names of stubs itself: "0000000000001030 <puts@plt>:".
  std::istringstream lines{run_command({"objdump", "-d", path}).out};
  elf::code_names names{open_image(path), path, {}};
  std::vector<error> problems;
  std::size_t stubs = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find('<');
    const auto end = line.find("@plt>:");
    if (end == std::string::npos || begin == std::string::npos || begin > end) continue;
    const std::uint64_t address = std::stoull(line, nullptr, 16);
    const auto places = names.describe(address + 2, {{}, false}, problems);
    CHECK(places.back().function == line.substr(begin + 1, end - begin - 1) + "@plt");
    ++stubs;
  }
  CHECK(stubs >= 3);
}
