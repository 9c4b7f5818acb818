// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Core files of live fixtures, written by gcore and the kernel, compared with the output and the memory of the
// fixtures.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>

#include "catch.hpp"
#include "description.hpp"
#include "live_process.hpp"
#include "mpiacq/process/core_file.hpp"
#include "take_core.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Starts programs in another working folder, because the kernel writes core files there.
class working_folder {
 public:
  explicit working_folder(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~working_folder() { std::filesystem::current_path(before_); }
  working_folder(const working_folder&) = delete;
  working_folder& operator=(const working_folder&) = delete;

 private:
  std::filesystem::path before_;
};

struct dead {
  description told;
  process_id pid;
  std::string core;  ///< empty: no core was written
  int status = 0;
  std::vector<std::byte> code;  ///< at MPIR_Breakpoint, while the process was alive
};

std::vector<std::byte> memory_at(memory_reader& memory, std::uint64_t address, std::size_t size) {
  std::vector<std::byte> bytes(size);
  memory_range range{target_address{address}, bytes};
  if (!memory.read_ranges({&range, 1})) return {};
  bytes.resize(range.got);
  return bytes;
}

constexpr std::size_t code_size = 64;

/// A fixture that a signal has ended with a core of the kernel.
dead killed(const std::string& program, const std::string& folder, int signal) {
  const working_folder here{folder};
  live_process process{{program}};
  dead d{description{process.lines_until_ready()}, process.pid(), {}, 0, {}};
  live_memory memory{process.pid()};
  if (d.told.symbols.contains("MPIR_Breakpoint")) {
    d.code = memory_at(memory, d.told.symbols.at("MPIR_Breakpoint").address, code_size);
  }
  allow_core(process.pid());
  ::kill(static_cast<pid_t>(process.pid().value()), signal);
  d.status = process.end();
  d.core = core_in(folder).value_or("");
  return d;
}

/// A fixture with a core that gdb has taken.
dead taken(const std::string& program, const std::string& folder) {
  live_process process{{program}};
  dead d{description{process.lines_until_ready()}, process.pid(), {}, 0, {}};
  live_memory memory{process.pid()};
  d.code = memory_at(memory, d.told.symbols.at("MPIR_Breakpoint").address, code_size);
  d.core = core_by_gcore(process.pid(), folder).value_or("");
  return d;
}

std::string texts(std::span<const error> problems) {
  std::string text;
  for (const error& e : problems) text += e.message + "\n";
  return text;
}

struct opened {
  explicit opened(const std::string& path, core_file_options options = {}) {
    auto file = core_file::open(path, std::move(options));
    if (!file) FAIL(file.error().message);
    core = std::move(*file);
    auto found = core_symbols::open(*core, fixture_search());
    if (!found) FAIL(found.error().message);
    symbols = std::move(*found);
  }
  std::unique_ptr<core_file> core;
  std::unique_ptr<core_symbols> symbols;
};

void check_everything(const dead& d, const std::string& program, bool has_symbol_table = true) {
  opened seen{d.core};
  CHECK(seen.core->pid() == d.pid);
  CHECK(seen.core->executable() == std::filesystem::canonical(program).string());
  check_symbols(*seen.symbols, d.told.symbols);
  if (has_symbol_table && !d.told.local_symbols.empty()) check_symbols(*seen.symbols, d.told.local_symbols);
  CHECK(memory_at(*seen.core, d.told.symbols.at("MPIR_Breakpoint").address, code_size) == d.code);
  if (!d.told.layout.members.empty() && has_symbol_table) {
    const auto layout = layout_of_table(*seen.symbols);
    REQUIRE(layout.has_value());
    check_layout(*layout, d.told.layout);
  }
  CHECK(texts(seen.core->problems()).empty());
  CHECK(texts(seen.symbols->problems()).empty());
}

struct core_variant {
  const char* name;
  bool has_symbol_table = true;
};

std::vector<core_variant> core_variants() {
  std::vector<core_variant> all = {{"pie"},         {"non_pie"},         {"static"},          {"static_pie"},
                                   {"in_library"},  {"copies"},          {"stripped", false}, {"hash_system_v", false},
                                   {"split_by_id"}, {"in_library_rpath"}};
#ifdef MPIACQ_HAVE_32_BIT_FIXTURE
  all.push_back({"i386"});
#endif
#ifdef MPIACQ_HAVE_32_BIT_LIBC
  all.push_back({"pie_32"});
  all.push_back({"stripped_32", false});
#endif
  return all;
}

}  // namespace

TEST_CASE("a core of the kernel has the symbols, types and code of the process") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  for (const core_variant& v : core_variants()) {
    INFO(v.name);
    own_folder folder;
    const int signal = std::string{v.name} == "pie" ? SIGSEGV : SIGABRT;
    const dead d = killed(fixture(v.name), folder / "", signal);
    if (d.told.symbols.empty()) continue;  // the kernel does not run 32-bit programs
    REQUIRE(WIFSIGNALED(d.status));
    REQUIRE(WCOREDUMP(d.status));
    REQUIRE_FALSE(d.core.empty());
    check_everything(d, fixture(v.name), v.has_symbol_table);
    CHECK(opened{d.core}.core->signal() == signal);
  }
}

TEST_CASE("a core of gcore has the symbols, types and code of the process") {
  for (const core_variant& v :
       {core_variant{"pie"}, core_variant{"static"}, core_variant{"in_library"}, core_variant{"stripped", false}}) {
    INFO(v.name);
    own_folder folder;
    const dead d = taken(fixture(v.name), folder / "");
    if (d.core.empty()) MPIACQ_SKIP("gcore (gdb) is not installed, or may not trace");
    check_everything(d, fixture(v.name), v.has_symbol_table);
  }
}

TEST_CASE("memory that a core lacks is not read from a replaced file") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const std::string program = folder / "program";
  const std::string library = folder / "libmpir_fixture.so";
  std::filesystem::copy_file(fixture("in_library"), program);
  std::filesystem::copy_file(fixture("libmpir_fixture.so"), library);
  const dead d = killed(program, folder / "", SIGABRT);
  REQUIRE_FALSE(d.core.empty());
  std::filesystem::remove(library);
  const auto with = [&](std::uint64_t address) {
    opened seen{d.core};
    return memory_at(*seen.core, address, code_size);
  };
  const std::uint64_t breakpoint = d.told.symbols.at("MPIR_Breakpoint").address;
  SECTION("replaced") {
    std::filesystem::copy_file(fixture("tiny"), library);
    opened seen{d.core};
    CHECK(memory_at(*seen.core, breakpoint, code_size).empty());
    CHECK_THAT(texts(seen.core->problems()), ContainsSubstring(library + " is another file"));
  }
  SECTION("gone") {
    opened seen{d.core};
    CHECK(memory_at(*seen.core, breakpoint, code_size).empty());
    CHECK_THAT(texts(seen.core->problems()), ContainsSubstring("not found; name the program's file"));
  }
  SECTION("elsewhere, by the whole path below another root") {
    own_folder root;
    const std::string below = (root / "") + library;
    std::filesystem::create_directories(std::filesystem::path(below).parent_path());
    std::filesystem::copy_file(fixture("libmpir_fixture.so"), below);
    opened seen{d.core, {"", root / ""}};
    CHECK(memory_at(*seen.core, breakpoint, code_size) == d.code);
    check_symbols(*seen.symbols, d.told.symbols);
  }
  SECTION("elsewhere, by its name alone") {
    own_folder root;
    std::filesystem::copy_file(fixture("libmpir_fixture.so"), root / "libmpir_fixture.so");
    opened seen{d.core, {"", root / ""}};
    CHECK(memory_at(*seen.core, breakpoint, code_size) == d.code);
    check_symbols(*seen.symbols, d.told.symbols);
  }
  CHECK((with(breakpoint).empty() || std::filesystem::exists(library)));
}

TEST_CASE("the caller can name the program's file if it has moved, and a wrong file is refused") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const std::string program = folder / "program";
  std::filesystem::copy_file(fixture("pie"), program);
  const dead d = killed(program, folder / "", SIGABRT);
  REQUIRE_FALSE(d.core.empty());
  std::filesystem::remove(program);
  {
    opened seen{d.core};
    CHECK(seen.core->executable() == program);
    CHECK_FALSE(seen.symbols->find_symbol("MPIR_proctable").value().has_value());
    CHECK_THAT(texts(seen.symbols->problems()), ContainsSubstring(program));
  }
  {
    opened seen{d.core, {fixture("non_pie"), ""}};
    CHECK_FALSE(seen.symbols->find_symbol("MPIR_proctable").value().has_value());
    CHECK_THAT(texts(seen.symbols->problems()), ContainsSubstring("is not the loaded one"));
  }
  opened seen{d.core, {fixture("pie"), ""}};
  check_symbols(*seen.symbols, d.told.symbols);
  check_symbols(*seen.symbols, d.told.local_symbols);
  CHECK(memory_at(*seen.core, d.told.symbols.at("MPIR_Breakpoint").address, code_size) == d.code);
}

TEST_CASE("a program without a build id is recognised by its headers") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const dead d = killed(fixture("split_by_link"), folder / "", SIGABRT);
  REQUIRE_FALSE(d.core.empty());
  opened seen{d.core};
  check_symbols(*seen.symbols, d.told.symbols);
  CHECK(memory_at(*seen.core, d.told.symbols.at("MPIR_Breakpoint").address, code_size) == d.code);
  opened wrong{d.core, {fixture("pie"), ""}};
  CHECK_FALSE(wrong.symbols->find_symbol("MPIR_proctable").value().has_value());
  CHECK_THAT(texts(wrong.symbols->problems()), ContainsSubstring("is not the loaded one (no build id)"));
}

TEST_CASE("a core that is cut short has a problem, and the rest of it is readable") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const dead d = killed(fixture("static"), folder / "", SIGABRT);
  REQUIRE_FALSE(d.core.empty());
  const auto whole = std::filesystem::file_size(d.core);
  for (std::uintmax_t size = 0; size < whole; size += whole / 97) {
    std::filesystem::resize_file(d.core, whole);
    std::filesystem::resize_file(d.core, size);
    INFO(size);
    auto core = core_file::open(d.core);
    if (!core) {
      CHECK(core.error().code == error_code::bad_format);
      CHECK_THAT(core.error().message, ContainsSubstring(d.core));
      continue;
    }
    CHECK_THAT(texts((*core)->problems()), ContainsSubstring("cut short"));
    auto symbols = core_symbols::open(**core, fixture_search());
    if (!symbols) {
      CHECK_FALSE(symbols.error().message.empty());
      continue;
    }
    const auto found = (*symbols)->find_symbol("MPIR_proctable");
    REQUIRE(found.has_value());
    // An answer, if there is one, must be right.
    if (*found) CHECK((*found)->address().value() == d.told.symbols.at("MPIR_proctable").address);
  }
}
