// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Types by name, in files of many machines and in processes, compared with the compiler's layout through the sizes of
// symbols.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <elf.h>

#include "catch.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_types.hpp"
#include "run_command.hpp"
#include "take_core.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::string source(const std::string& name) {
  return std::string{MPIACQ_TYPES_SOURCES} + "/" + name;
}

void build(std::vector<std::string> words) {
  const auto built = run_command(words);
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
}

/// "size_of__T" and "offset_of__T__F": the sizes of the arrays by nm, for any machine.
std::map<std::string, std::uint64_t> told_by_symbols(const std::string& file, const std::string& nm = "nm") {
  std::map<std::string, std::uint64_t> told;
  std::istringstream lines{run_command({nm, "-S", "--defined-only", file}).out};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string address, size, kind, name;
    if (!(words >> address >> size >> kind >> name) || name.find("_of__") == std::string::npos) continue;
    const std::uint64_t bytes = std::stoull(size, nullptr, 16);
    told[name] = name.starts_with("offset_of__") ? bytes - 1 : bytes;
  }
  REQUIRE(told.size() >= 2);
  return told;
}

std::optional<structure_layout> type(type_source& types, const std::string& name,
                                     source_language language = source_language::c) {
  auto found = types.type_named(name, language);
  if (!found) FAIL(found.error().message);
  return std::move(*found);
}

/// The type `name` agrees with the symbols of this label in every member.
void check_type(type_source& types, const std::string& name, const std::string& label,
                const std::map<std::string, std::uint64_t>& told) {
  INFO(name);
  const auto found = type(types, name);
  REQUIRE(found.has_value());
  CHECK(found->size == told.at("size_of__" + label));
  std::size_t members = 0;
  const std::string offsets = "offset_of__" + label + "__";
  for (auto field = told.lower_bound(offsets); field != told.end() && field->first.starts_with(offsets); ++field) {
    INFO(field->first);
    const structure_member* member = found->find(field->first.substr(offsets.size()));
    REQUIRE(member != nullptr);
    CHECK(member->offset == field->second);
    ++members;
  }
  if (members != 0) CHECK(found->members.size() == members);
}

void check_c_types(type_source& types, const std::map<std::string, std::uint64_t>& told) {
  check_type(types, "tagged", "tagged", told);
  check_type(types, "struct tagged", "tagged", told);
  check_type(types, "untagged_t", "untagged_t", told);
  check_type(types, "twice", "twice", told);
  check_type(types, "struct twice", "struct_twice", told);
  check_type(types, "choice", "choice", told);
  check_type(types, "union choice", "choice", told);
  check_type(types, "chosen_t", "choice", told);
  check_type(types, "colour", "colour", told);
  check_type(types, "enum colour", "colour", told);
  check_type(types, "number_t", "number_t", told);
  check_type(types, "handle_t", "handle_t", told);
  for (const char* none : {"struct choice", "union tagged", "struct untagged_t", "nothing_t", "never_defined_t",
                           "struct never_defined", "a_tagged", "absent", "struct ", ""}) {
    INFO(none);
    CHECK_FALSE(type(types, none).has_value());
  }
  std::vector<std::pair<std::string, std::int64_t>> colours;
  const auto colour = type(types, "colour");
  for (const enumerator& one : colour->enumerators) colours.emplace_back(one.name, one.value);
  CHECK(colours == std::vector<std::pair<std::string, std::int64_t>>{{"red", 0}, {"green", 1}});
  CHECK(type(types, "choice")->enumerators.empty());
  const auto tagged = type(types, "tagged");
  CHECK(tagged->find("p")->is_pointer);
  CHECK(tagged->find("text")->size == 13);
  CHECK(tagged->find("i")->is_signed);
}

struct machine {
  const char* compiler;
  std::vector<std::string> flags;
  const char* nm;
  unsigned elf_machine;
};

/// Compiles objects and, if the linker is installed, a library.
void check_machine(const machine& m) {
  const scratch_folder folder;
  const std::vector<std::vector<std::string>> ways = {
      {"-gdwarf-5"}, {"-gdwarf-4", "-O2"}, {"-gdwarf-3", "-gstrict-dwarf"}, {"-g", "-gz=zlib"}};
  for (const auto& way : ways) {
    for (const bool linked : {false, true}) {
      std::vector<std::string> words = {m.compiler, "-fno-common"};
      words.insert(words.end(), m.flags.begin(), m.flags.end());
      words.insert(words.end(), way.begin(), way.end());
      std::vector<std::string> rest = {"-c", source("types.c")};
      if (linked) rest = {"-shared", "-fPIC", "-nostdlib", source("types.c"), source("more_types.c")};
      words.insert(words.end(), rest.begin(), rest.end());
      const std::string file = folder.path(linked ? "types.so" : "types.o");
      words.insert(words.end(), {"-o", file});
      INFO(way.front() << (linked ? " linked" : " object"));
      build(words);
      auto types = type_file::open(file, {{}, false});
      if (!types) FAIL(types.error().message);
      CHECK((*types)->abi().elf_machine == m.elf_machine);
      const auto told = told_by_symbols(file, m.nm);
      check_c_types(**types, told);
      if (linked) {
        check_type(**types, "elsewhere_t", "elsewhere_t", told);
      } else {
        CHECK_FALSE(type(**types, "elsewhere_t").has_value());
      }
      CHECK((*types)->problems().empty());
    }
  }
}

void build_library(const std::string& file, std::vector<std::string> flags) {
  std::vector<std::string> words = {"gcc", "-fno-common", "-shared", "-fPIC"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {source("types.c"), source("more_types.c"), "-o", file});
  build(words);
}

}  // namespace

TEST_CASE("types of this machine's objects and libraries agree with the compiler") {
  check_machine({"gcc", {}, "nm", EM_X86_64});
}

TEST_CASE("types of 32-bit programs agree with the compiler") {
  if (run_command({"sh", "-c", "echo 'int main(void){return 0;}' | gcc -m32 -xc - -o /dev/null"}).exit_code != 0) {
    MPIACQ_SKIP("gcc makes no programs of 32 bits here (libc6-dev-i386)");
  }
  check_machine({"gcc", {"-m32"}, "nm", EM_386});
}

TEST_CASE("types of a big-endian machine agree with the compiler") {
  if (!is_installed("s390x-linux-gnu-gcc")) MPIACQ_SKIP("s390x-linux-gnu-gcc is not installed (gcc-s390x-linux-gnu)");
  check_machine({"s390x-linux-gnu-gcc", {}, "s390x-linux-gnu-nm", EM_S390});
}

TEST_CASE("types of aarch64 agree with the compiler") {
  if (!is_installed("aarch64-linux-gnu-gcc"))
    MPIACQ_SKIP("aarch64-linux-gnu-gcc is not installed (gcc-aarch64-linux-gnu)");
  check_machine({"aarch64-linux-gnu-gcc", {}, "aarch64-linux-gnu-nm", EM_AARCH64});
}

TEST_CASE("types of clang agree with the compiler") {
  if (!is_installed("clang")) MPIACQ_SKIP("clang is not installed");
  check_machine({"clang", {}, "nm", EM_X86_64});
}

TEST_CASE("types are found in type units, in a debug file, and in a shared debug file") {
  const scratch_folder folder;
  SECTION("units of their own") {
    for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
      build_library(folder.path("types.so"), {version, "-fdebug-types-section"});
      auto types = type_file::open(folder.path("types.so"), {{}, false});
      REQUIRE(types.has_value());
      check_c_types(**types, told_by_symbols(folder.path("types.so")));
    }
  }
  SECTION("a debug file") {
    build_library(folder.path("types.so"), {"-g"});
    const auto told = told_by_symbols(folder.path("types.so"));
    build({"objcopy", "--only-keep-debug", folder.path("types.so"), folder.path("types.debug")});
    build({"objcopy", "--strip-debug", "--add-gnu-debuglink=" + folder.path("types.debug"), folder.path("types.so")});
    auto types = type_file::open(folder.path("types.so"), {{}, false});
    REQUIRE(types.has_value());
    check_c_types(**types, told);
    const auto found = type(**types, "tagged");
    CHECK(found->source == layout_source::debug_file);
    CHECK_THAT(found->debug_file, ContainsSubstring("types.debug"));
  }
  SECTION("a file that debug files share") {
    if (!is_installed("dwz")) MPIACQ_SKIP("dwz is not installed");
    build_library(folder.path("types.so"), {"-gdwarf-4"});
    const auto told = told_by_symbols(folder.path("types.so"));
    std::filesystem::copy_file(folder.path("types.so"), folder.path("again.so"));
    build({"dwz", "-m", folder.path("common"), "-M", folder.path("common"), folder.path("types.so"),
           folder.path("again.so")});
    auto types = type_file::open(folder.path("types.so"), {{}, false});
    if (!types) FAIL(types.error().message);
    check_c_types(**types, told);
  }
}

TEST_CASE("types in namespaces and classes are found, with the members of base classes") {
  if (!is_installed("g++")) MPIACQ_SKIP("g++ is not installed");
  const scratch_folder folder;
  const std::string file = folder.path("types.o");
  build({"g++", "-g", "-c", source("types.cc"), "-o", file});
  const auto told = told_by_symbols(file);
  auto types = type_file::open(file, {{}, false});
  REQUIRE(types.has_value());
  const auto derived = type(**types, "outer::derived");
  REQUIRE(derived.has_value());
  CHECK(derived->size == told.at("size_of__derived"));
  for (const char* field : {"of_base", "of_derived", "an_inner"}) {
    REQUIRE(derived->find(field) != nullptr);
    CHECK(derived->find(field)->offset == told.at(std::string{"offset_of__derived__"} + field));
  }
  const auto inner = type(**types, "struct outer::derived::inner");
  REQUIRE(inner.has_value());
  CHECK(inner->size == told.at("size_of__inner"));
  CHECK_FALSE(type(**types, "derived").has_value());
}

TEST_CASE("types of Fortran modules are found in any case of letters") {
  if (!is_installed("gfortran")) MPIACQ_SKIP("gfortran is not installed");
  const scratch_folder folder;
  command_options there;
  there.directory = folder.path("");
  const auto built = run_command({"gfortran", "-g", source("types.f90"), "-o", "says"}, there);
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  std::istringstream told{run_command({folder.path("says")}).out};
  std::uint64_t size = 0, kind = 0, number = 0, x = 0;
  REQUIRE(told >> size >> kind >> number >> x);
  auto types = type_file::open(folder.path("says"), {{}, false});
  REQUIRE(types.has_value());
  for (const char* name : {"point", "POINT", "shapes::point", "Shapes::Point"}) {
    INFO(name);
    const auto found = type(**types, name, source_language::fortran);
    REQUIRE(found.has_value());
    CHECK(found->size == size);
    CHECK(found->find("kind")->offset == kind);
    CHECK(found->find("number")->offset == number);
    CHECK(found->find("x")->offset == x);
  }
  CHECK_FALSE(type(**types, "POINT").has_value());
}

TEST_CASE("a process has the types of all its modules, and a file that two processes map is read once") {
  const scratch_folder folder;
  const std::string library = folder.path("libtypes.so");
  build_library(library, {"-g", "-Wl,-soname," + library});
  const std::string program = folder.path("waits");
  build({"gcc", "-g", source("waits.c"), library, "-o", program});
  const auto told = told_by_symbols(library);

  type_catalogue catalogue{{{}, false}};
  std::size_t read_by_first = 0;
  for (const bool is_first : {true, false}) {
    live_process process{{program}};
    REQUIRE(process.next_line() == std::optional<std::string>{"ready"});
    live_memory memory{process.pid()};
    auto symbols = process_symbols::open(process.pid(), memory, {{}, false});
    REQUIRE(symbols.has_value());

    process_types types{**symbols, catalogue};
    CHECK(type(types, "only_in_program")->size == 17);
    CHECK(type(types, "tagged")->size == 99);  // the type of the program, which is the first module
    check_type(types, "untagged_t", "untagged_t", told);
    check_type(types, "elsewhere_t", "elsewhere_t", told);
    CHECK(type(types, "untagged_t")->module_path == library);
    CHECK(type(types, "untagged_t")->source == layout_source::dwarf);
    CHECK_FALSE(type(types, "absent").has_value());

    const auto witness = (*symbols)->find_symbol("an_untagged");
    REQUIRE((witness && *witness));
    process_types library_first{**symbols, catalogue, (*witness)->home.get()};
    check_type(library_first, "tagged", "tagged", told);
    CHECK(type(library_first, "only_in_program")->size == 17);

    if (is_first) read_by_first = catalogue.files_read();
  }
  CHECK(read_by_first >= 2);
  CHECK(catalogue.files_read() == read_by_first);
}

TEST_CASE("a core file's process has the types of its modules") {
  const scratch_folder folder;
  const std::string library = folder.path("libtypes.so");
  build_library(library, {"-g", "-Wl,-soname," + library});
  const std::string program = folder.path("waits");
  build({"gcc", "-g", source("waits.c"), library, "-o", program});
  live_process process{{program}};
  REQUIRE(process.next_line() == std::optional<std::string>{"ready"});
  const auto file = core_by_gcore(process.pid(), folder.path(""));
  if (!file) MPIACQ_SKIP("gcore (gdb) takes no core file here");
  auto core = core_file::open(*file);
  REQUIRE(core.has_value());
  auto symbols = core_symbols::open(**core, {{}, false});
  REQUIRE(symbols.has_value());
  type_catalogue catalogue{{{}, false}};
  process_types types{**symbols, catalogue};
  CHECK(type(types, "only_in_program")->size == 17);
  check_type(types, "untagged_t", "untagged_t", told_by_symbols(library));
}

TEST_CASE("a program that does not run has its types and those of its libraries") {
  const scratch_folder folder;
  const std::string library = folder.path("libtypes.so");
  build_library(library, {"-g", "-Wl,-soname," + library});
  const std::string program = folder.path("waits");
  build({"gcc", "-g", source("waits.c"), library, "-o", program});
  auto symbols = file_symbols::open(program, {{}, false});
  REQUIRE(symbols.has_value());
  type_catalogue catalogue{{{}, false}};
  process_types types{**symbols, catalogue};
  CHECK(type(types, "only_in_program")->size == 17);
  check_type(types, "untagged_t", "untagged_t", told_by_symbols(library));
}

TEST_CASE("a chain of type sources asks its parts in their order") {
  const scratch_folder folder;
  build({"gcc", "-g", "-c", source("types.c"), "-o", folder.path("a.o")});
  build({"gcc", "-g", "-c", source("more_types.c"), "-o", folder.path("b.o")});
  std::vector<std::unique_ptr<type_source>> parts;
  for (const char* name : {"a.o", "b.o"}) parts.push_back(std::move(*type_file::open(folder.path(name), {{}, false})));
  parts.push_back(nullptr);
  type_chain chain{std::move(parts)};
  CHECK(type(chain, "tagged").has_value());
  CHECK(type(chain, "elsewhere").has_value());
  CHECK_FALSE(type(chain, "absent").has_value());
}

TEST_CASE("the error for a file without types says so") {
  const scratch_folder folder;
  build({"gcc", "-g0", "-c", source("types.c"), "-o", folder.path("plain.o")});
  const auto plain = type_file::open(folder.path("plain.o"), {{}, false});
  REQUIRE_FALSE(plain.has_value());
  CHECK(plain.error().code == error_code::bad_format);
  CHECK_THAT(plain.error().message, ContainsSubstring("has no debug information"));
  const auto none = type_file::open(folder.path("none"), {{}, false});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == error_code::not_found);
  std::ofstream{folder.path("text")} << "#!/bin/sh\n";
  const auto script = type_file::open(folder.path("text"), {{}, false});
  REQUIRE_FALSE(script.has_value());
  CHECK_THAT(script.error().message, ContainsSubstring("is a script"));
}

TEST_CASE("a relocation that points out of its section is ignored") {
  const scratch_folder folder;
  const std::string file = folder.path("types.o");
  build({"gcc", "-g", "-c", source("types.c"), "-o", file});
  std::string bytes = file_contents(file);
  // Sets the offset of each record of .rela.debug_info in turn to a place far outside.
  std::istringstream sections{run_command({"readelf", "-SW", file}).out};
  std::size_t begin = 0, size = 0;
  for (std::string line; std::getline(sections, line);) {
    std::istringstream words{line.substr(std::min(line.find(']'), line.size() - 1) + 1)};
    std::string name, kind, address, offset, length;
    if (words >> name >> kind >> address >> offset >> length && name == ".rela.debug_info") {
      begin = std::stoull(offset, nullptr, 16);
      size = std::stoull(length, nullptr, 16);
    }
  }
  REQUIRE(size >= 24);
  for (std::size_t record = 0; record + 24 <= size; record += 24) {
    for (std::size_t i = 0; i < 8; ++i) bytes[begin + record + i] = static_cast<char>(0xff);
  }
  std::ofstream{file, std::ios::binary} << bytes;
  auto types = type_file::open(file, {{}, false});
  if (types) static_cast<void>((*types)->type_named("tagged", source_language::c));
}
