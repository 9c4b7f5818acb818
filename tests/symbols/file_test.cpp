// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs and libraries that do not run, and other files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <sys/stat.h>

#include "catch.hpp"
#include "description.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

void write_file(const std::string& path, std::string_view contents) {
  std::ofstream{path, std::ios::binary}.write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

error refused(const std::string& path) {
  auto opened = file_symbols::open(path, fixture_search());
  REQUIRE_FALSE(opened.has_value());
  INFO(opened.error().message);
  CHECK_THAT(opened.error().message, ContainsSubstring(path));
  return opened.error();
}

}  // namespace

TEST_CASE("the addresses of a file's symbols differ from the process's by the load bias") {
  for (const char* name : {"pie", "non_pie", "static", "dwarf4", "stripped", "hash_system_v", "split_by_id",
                           "split_by_link", "compressed", "extended"}) {
    INFO(name);
    live_process process{{fixture(name)}};
    const description told{process.lines_until_ready()};
    auto symbols = file_symbols::open(fixture(name), fixture_search());
    REQUIRE(symbols.has_value());
    const auto found = look_up(**symbols, told.symbols);
    std::set<std::uint64_t> moved;
    std::size_t i = 0;
    for (const auto& [symbol_name, expected] : told.symbols) {
      INFO(symbol_name);
      REQUIRE(found[i].has_value());
      moved.insert(expected.address - found[i]->address().value());
      ++i;
    }
    CHECK(moved.size() == 1);
    CHECK(*moved.begin() % 4096 == 0);
    const bool fixed = std::string_view{name} == "non_pie" || std::string_view{name} == "static";
    CHECK((*moved.begin() == 0) == fixed);
  }
}

TEST_CASE("a file has the same layouts as its process") {
  for (const char* name : {"pie", "static", "dwarf4", "split_by_id", "split_by_link", "compressed", "extended",
                           "qualified", "nested", "opaque", "type_units", "in_library"}) {
    INFO(name);
    live_process process{{fixture(name)}};
    const description told{process.lines_until_ready()};
    auto symbols = file_symbols::open(fixture(name), fixture_search());
    REQUIRE(symbols.has_value());
    const auto layout = layout_of_table(**symbols);
    REQUIRE(layout.has_value());
    check_layout(*layout, told.layout);
  }
}

TEST_CASE("a file's libraries are those that the dynamic linker finds") {
  for (const char* name : {"in_library", "in_library_rpath"}) {
    INFO(name);
    live_process process{{fixture(name)}};
    process.lines_until_ready();
    live_memory memory{process.pid()};
    auto live = process_symbols::open(process.pid(), memory, fixture_search());
    REQUIRE(live.has_value());
    std::set<std::filesystem::path> mapped;
    for (const auto& m : (*live)->modules()) {
      if (m->path.starts_with('/')) mapped.insert(std::filesystem::canonical(m->path));
    }
    auto symbols = file_symbols::open(fixture(name), fixture_search());
    REQUIRE(symbols.has_value());
    std::set<std::filesystem::path> found;
    for (const auto& m : (*symbols)->modules()) found.insert(std::filesystem::canonical(m->path));
    CHECK(found == mapped);
    CHECK((*symbols)->problems().empty());
  }
}

TEST_CASE("the problem for a missing library names the library and the module that needs it") {
  own_folder folder;
  std::filesystem::copy_file(fixture("in_library"), folder / "alone");
  auto symbols = file_symbols::open(folder / "alone", fixture_search());
  REQUIRE(symbols.has_value());
  REQUIRE((*symbols)->problems().size() == 1);
  const error& problem = (*symbols)->problems().front();
  CHECK(problem.code == error_code::not_found);
  CHECK_THAT(problem.message, ContainsSubstring("libmpir_fixture.so"));
  CHECK_THAT(problem.message, ContainsSubstring(folder / "alone"));
}

TEST_CASE("a file gives initialised data and zeros") {
  auto symbols = file_symbols::open(fixture("pie"), fixture_search());
  REQUIRE(symbols.has_value());
  const auto size = (*symbols)->find_symbol("MPIR_proctable_size");
  REQUIRE((size && *size));
  memory_reader& memory = (*symbols)->initial_memory();
  CHECK(read_signed(memory, (*symbols)->abi(), (*size)->address(), 4).value() == 17);
  const auto path = (*symbols)->find_symbol("MPIR_executable_path");
  REQUIRE((path && *path));
  CHECK(read_c_string(memory, (*path)->address(), 255).value().empty());
  const auto nowhere = read_unsigned(memory, (*symbols)->abi(), target_address{0x7fff00000000}, 4);
  REQUIRE_FALSE(nowhere.has_value());
  CHECK(nowhere.error().code == error_code::unreadable_memory);
}

TEST_CASE("a 32-bit library is read with its own widths") {
#ifdef MPIACQ_HAVE_32_BIT_FIXTURE
  auto symbols = file_symbols::open(fixture("tiny_32"), fixture_search());
  REQUIRE(symbols.has_value());
  CHECK((*symbols)->abi().pointer_size == 4);
  const auto size = (*symbols)->find_symbol("MPIR_proctable_size");
  REQUIRE((size && *size));
  const auto value = read_signed((*symbols)->initial_memory(), (*symbols)->abi(), (*size)->address(), 4);
  CHECK(value.value() == 4711);
  const auto layout = layout_of_table(**symbols);
  REQUIRE(layout.has_value());
  CHECK(layout->size == 12);
  REQUIRE(layout->find("pid") != nullptr);
  CHECK(layout->find("pid")->offset == 8);
  CHECK(layout->find("host_name")->size == 4);
#else
  MPIACQ_SKIP("the 32-bit fixture is for x86");
#endif
}

TEST_CASE("the error for a file that is no program says what the file is") {
  own_folder folder;
  CHECK(refused(folder / "nothing there").code == error_code::not_found);
  const error directory = refused(std::filesystem::path(folder / "x").parent_path());
  CHECK(directory.code == error_code::bad_format);
  CHECK_THAT(directory.message, ContainsSubstring("a directory"));

  write_file(folder / "empty", "");
  CHECK_THAT(refused(folder / "empty").message, ContainsSubstring("is empty"));
  write_file(folder / "script", "#! /usr/bin/env python3\nprint()\n");
  CHECK_THAT(refused(folder / "script").message, ContainsSubstring("a script for /usr/bin/env python3"));
  write_file(folder / "text", "hello\n");
  CHECK_THAT(refused(folder / "text").message, ContainsSubstring("is not an ELF file"));
  write_file(folder / "head", std::string_view{"\x7f"
                                               "ELF\x02\x01",
                                               6});
  CHECK_THAT(refused(folder / "head").message, ContainsSubstring("truncated"));
  CHECK_THAT(refused(fixture("unlinked.o")).message, ContainsSubstring("has not been linked"));

  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(refused(folder / "pipe").message, ContainsSubstring("a pipe"));
}

namespace {

/// Removes root's rights from this process during its lifetime, so that permissions apply.
class without_root {
 public:
  without_root() : was_root_(::geteuid() == 0) {
    if (was_root_) REQUIRE(::seteuid(65534) == 0);
  }
  ~without_root() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  without_root(const without_root&) = delete;
  without_root& operator=(const without_root&) = delete;

 private:
  bool was_root_;
};

}  // namespace

TEST_CASE("the error for an unreadable file names the file") {
  own_folder folder;
  write_file(folder / "secret", "x");
  REQUIRE(::chmod((folder / "secret").c_str(), 0) == 0);
  const without_root now;
  CHECK(refused(folder / "secret").code == error_code::permission);
}

TEST_CASE("the error for another user's process says which rights are needed") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root has a process here that other users may not inspect");
  live_process process{{fixture("pie")}};
  process.lines_until_ready();
  live_memory memory{process.pid()};
  const without_root now;
  const auto symbols = process_symbols::open(process.pid(), memory);
  REQUIRE_FALSE(symbols.has_value());
  CHECK(symbols.error().code == error_code::permission);
  CHECK_THAT(symbols.error().message, ContainsSubstring("ptrace_scope"));
}

TEST_CASE("a file that is cut at any length gives an answer or an error") {
  own_folder folder;
  std::vector<std::string> names = {"tiny", "split_by_link.debug"};
#ifdef MPIACQ_HAVE_32_BIT_FIXTURE
  names.emplace_back("tiny_32");
#endif
  for (const std::string& name : names) {
    const std::string whole = read_file(fixture(name));
    REQUIRE(whole.size() > 1000);
    std::size_t refusals = 0;
    std::size_t answers = 0;
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 150);
    for (std::size_t length = 0; length < whole.size(); length += length < 70 ? 1 : step) {
      INFO(name << " cut to " << length << " bytes");
      write_file(folder / "cut", std::string_view{whole}.substr(0, length));
      auto symbols = file_symbols::open(folder / "cut", fixture_search());
      if (!symbols) {
        ++refusals;
        CHECK(symbols.error().code == error_code::bad_format);
        continue;
      }
      ++answers;
      const auto table = (*symbols)->find_symbol("MPIR_proctable");
      REQUIRE(table.has_value());
      if (!*table) continue;
      const auto layout = (*symbols)->layout_pointed_to_by(**table, nullptr);
      if (!layout) CHECK(layout.error().code == error_code::bad_format);
    }
    CHECK(refusals > 0);
    CHECK(answers > 0);
  }
}

TEST_CASE("a debug file of another program is not used, and a problem says so") {
  own_folder folder;
  std::filesystem::copy_file(fixture("split_by_link"), folder / "split_by_link");
  std::string debug = read_file(fixture("split_by_link.debug"));
  SECTION("its contents differ from what the link's CRC says") {
    debug.back() = static_cast<char>(debug.back() ^ 1);
    write_file(folder / "split_by_link.debug", debug);
  }
  SECTION("it is of another program") {
    std::filesystem::copy_file(fixture("split_by_id"), folder / "split_by_link.debug");
  }
  auto symbols = file_symbols::open(folder / "split_by_link", fixture_search());
  REQUIRE(symbols.has_value());
  CHECK_FALSE((*symbols)->find_symbol("MPIR_proctable").value().has_value());
  REQUIRE_FALSE((*symbols)->problems().empty());
  CHECK_THAT((*symbols)->problems().front().message, ContainsSubstring("is not the debug file of"));
}

TEST_CASE("a debug file is found in .debug beside the program and below the debug folders") {
  own_folder folder;
  std::filesystem::copy_file(fixture("split_by_link"), folder / "split_by_link");
  debug_file_search search{{folder / "debug"}, false};
  std::string place = folder / ".debug";
  SECTION("in .debug") {}
  SECTION("below a debug folder, by the program's own path") {
    place = (folder / "debug") + std::filesystem::path(folder / "x").parent_path().string();
  }
  std::filesystem::create_directories(place);
  std::filesystem::copy_file(fixture("split_by_link.debug"), place + "/split_by_link.debug");
  auto symbols = file_symbols::open(folder / "split_by_link", search);
  REQUIRE(symbols.has_value());
  const auto layout = layout_of_table(**symbols);
  REQUIRE(layout.has_value());
  CHECK(layout->source == layout_source::debug_file);
  CHECK(layout->debug_file == place + "/split_by_link.debug");
}
