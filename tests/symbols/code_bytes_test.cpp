// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The small parsers behind names: mangled names, /proc/PID/maps.
#include "catch.hpp"
#include "code_names/code_mappings.hpp"
#include "code_names/function_name.hpp"

using namespace mpiacq;
using namespace mpiacq::debug_info;

TEST_CASE("function names are made from the names of symbols") {
  CHECK(function_of_symbol("solve") == "solve");
  CHECK(function_of_symbol("_Z5solvei") == "solve(int)");
  CHECK(function_of_symbol("_Z5solvei.part.0.cold") == "solve(int)");
  CHECK(function_of_symbol("solve.constprop.12.isra.0") == "solve");
  CHECK(function_of_symbol("solve.llvm.8912345") == "solve");
  CHECK(function_of_symbol("write@@GLIBC_2.2.5") == "write");
  CHECK(function_of_symbol("__solver_MOD_relax") == "solver::relax");
  CHECK(function_of_symbol("MAIN__") == "MAIN__");
  CHECK(function_of_symbol("_RNvC3foo3bar") == "_RNvC3foo3bar");
  // A suffix that only resembles a compiler's stays.
  CHECK(function_of_symbol(".cold") == ".cold");
  CHECK(function_of_symbol("part.0") == "part.0");
  CHECK(function_of_symbol("correct.0") == "correct.0");
  CHECK(function_of_symbol("") == "");
  CHECK(function_of_symbol("@") == "@");
}

TEST_CASE("a mangled name that would expand beyond the limit stays mangled") {
  // Each pair contains the previous one twice.
  std::string name = "_Z1fSt4pairIiiE";
  std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 0; i < 30; ++i) name += std::string{"St4pairIS"} + digits[i] + "_S" + digits[i] + "_E";
  CHECK(function_of_symbol(name) == name);
  CHECK_FALSE(demangle_cpp("_Z" + std::string(100000, 'P')).has_value());
  CHECK_FALSE(demangle_fortran("__x_MOD_").has_value());
  CHECK_FALSE(demangle_fortran("___MOD_").has_value());
}

TEST_CASE("the parser of /proc/PID/maps keeps each executable mapping, with its file and the file's first address") {
  const auto maps = elf::decode_mappings(
      "00400000-00401000 r--p 00000000 fe:01 77                          /opt/a program\n"
      "00401000-00402000 r-xp 00001000 fe:01 77                          /opt/a program\n"
      "00402000-00403000 rw-p 00002000 fe:01 77                          /opt/a program\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00000000 00:1a 5                   /memfd:jit (deleted)\n"
      "7f0000004000-7f0000005000 r--p 00000000 fe:01 78                  /opt/new\\012line (deleted)\n"
      "7f0000005000-7f0000006000 r-xp 00001000 fe:01 78                  /opt/new\\012line (deleted)\n"
      "7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                   [vdso]\n"
      "nonsense\n"
      "7ffc00001000-7ffc00000000 r-xp 00000000 00:00 0 backwards\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0           [vsyscall]");
  REQUIRE(maps.code.size() == 6);
  REQUIRE(maps.files.size() == 4);
  CHECK(maps.files[0]->path == "/opt/a program");
  CHECK(maps.files[0]->inode == 77);
  CHECK(maps.first_pages[0] == 0x400000);
  CHECK(maps.code[0].file_offset == 0x1000);
  CHECK(maps.code[1].file == elf::code_mapping::no_file);
  CHECK(maps.files[1]->is_deleted);
  CHECK(maps.files[2]->path == "/opt/new\nline");
  CHECK(maps.files[2]->is_deleted);
  CHECK(maps.first_pages[2] == 0x7f0000004000);
  CHECK(maps.files[3]->path == "[vdso]");
  CHECK(maps.code[5].file == elf::code_mapping::no_file);
  CHECK(elf::decode_mappings("").code.empty());
  CHECK(elf::decode_mappings("\n\n-").code.empty());
}
