// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs and libraries whose files were deleted, or replaced by another version, while they ran: nothing may come
// from the new file.
#include <filesystem>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "another_user.hpp"
#include "observed_program.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::string id_by_readelf(const std::string& file) {
  const auto notes = run_command({"readelf", "-n", file}).out;
  const auto at = notes.find("Build ID: ");
  return at == std::string::npos ? "" : notes.substr(at + 10, 40);
}

/// Replaces a file as package managers do: a new file gets the name, and the old one stays mapped.
void replace(const std::string& path, const std::string& by) {
  std::filesystem::copy_file(by, path + ".new");
  std::filesystem::rename(path + ".new", path);
}

/// A program that has opened its library.
struct loader {
  explicit loader(const std::string& library) : process({fixture("loader"), library}), memory(process.pid()) {
    process.lines_until_ready();
    process.tell('o');
    address = description{process.lines_until_ready()}.symbols.at("MPIR_proctable").address;
  }
  std::unique_ptr<process_symbols> look() {
    auto opened = process_symbols::open(process.pid(), memory, fixture_search());
    if (!opened) FAIL(opened.error().message);
    return std::move(*opened);
  }
  live_process process;
  live_memory memory;
  std::uint64_t address = 0;
};

bool may_open_mapped_files() {
  return ::geteuid() == 0;
}

}  // namespace

TEST_CASE("a library that was replaced by a newer version is read as loaded, and a problem says so") {
  for (const bool has_id : {true, false}) {
    INFO((has_id ? "with build ids" : "without build ids"));
    own_folder folder;
    const std::string library = folder / "libmpir_fixture.so";
    const std::string older = fixture(has_id ? "libmpir_fixture.so" : "libmpir_no_id.so");
    const std::string newer = fixture(has_id ? "libmpir_newer.so" : "libmpir_newer_no_id.so");
    std::filesystem::copy_file(older, library);
    loader program{library};
    replace(library, newer);

    const auto symbols = program.look();
    const auto table = symbols->find_symbol("MPIR_proctable");
    REQUIRE((table && *table));
    CHECK((*table)->address().value() == program.address);
    CHECK_FALSE(symbols->find_symbol("only_in_the_newer").value().has_value());
    const auto layout = layout_of_table(*symbols);
    REQUIRE(layout.has_value() == may_open_mapped_files());
    if (layout) CHECK(layout->size == 24);  // the newer version has other members

    const auto problem = std::find_if(symbols->problems().begin(), symbols->problems().end(),
                                      [](const error& e) { return e.code == error_code::bad_format; });
    REQUIRE(problem != symbols->problems().end());
    CHECK(problem->path == library);
    CHECK_THAT(problem->message, ContainsSubstring(library + " was replaced since it was loaded"));
    if (has_id) {
      CHECK_THAT(problem->message, ContainsSubstring(id_by_readelf(older)));
      CHECK_THAT(problem->message, ContainsSubstring(id_by_readelf(newer)));
    }
    CHECK(std::count_if(symbols->problems().begin(), symbols->problems().end(),
                        [&](const error& e) { return e.path == library; }) == 1);
  }
}

TEST_CASE("another file with the same version of a library is used") {
  own_folder folder;
  const std::string library = folder / "libmpir_fixture.so";
  std::filesystem::copy_file(fixture("libmpir_fixture.so"), library);
  loader program{library};
  replace(library, fixture("libmpir_fixture.so"));
  const auto symbols = program.look();
  CHECK(layout_of_table(*symbols).value().size == 24);
  CHECK(all_problems(*symbols).empty());
}

TEST_CASE("without root's rights a replaced library keeps its dynamic symbols, and nothing comes from the new file") {
  MPIACQ_NEEDS_ANOTHER_USER();
  CHECK(holds_as_nobody([] {
    own_folder folder;
    const std::string library = folder / "libmpir_fixture.so";
    std::filesystem::copy_file(fixture("libmpir_fixture.so"), library);
    live_process process{{fixture("loader"), library}};
    process.lines_until_ready();
    process.tell('o');
    const description told{process.lines_until_ready()};
    replace(library, fixture("libmpir_newer.so"));
    live_memory memory{process.pid()};
    auto symbols = process_symbols::open(process.pid(), memory, fixture_search());
    if (!symbols) return false;
    const auto table = (*symbols)->find_symbol("MPIR_proctable");
    if (!table || !*table) return false;
    if ((*table)->address().value() != told.symbols.at("MPIR_proctable").address) return false;
    if ((*symbols)->find_symbol("only_in_the_newer").value().has_value()) return false;
    const auto layout = (*symbols)->layout_pointed_to_by(**table, nullptr);
    return layout && !*layout && all_problems(**symbols).find("was replaced since") != std::string::npos;
  }));
}

TEST_CASE("a program that was replaced is read as started, and a problem says so") {
  own_folder folder;
  const std::string program = folder / "program";
  std::filesystem::copy_file(fixture("pie"), program);
  live_process process{{program}};
  const description told{process.lines_until_ready()};
  replace(program, fixture("extended"));
  live_memory memory{process.pid()};
  auto symbols = process_symbols::open(process.pid(), memory, fixture_search());
  REQUIRE(symbols.has_value());
  check_all(**symbols, told);
  REQUIRE((*symbols)->problems().size() == 1);
  CHECK_THAT((*symbols)->problems()[0].message, ContainsSubstring(program + " was replaced after its start"));
}

TEST_CASE("a program whose own name ends in the mark of deleted files is not reported as replaced") {
  own_folder folder;
  std::filesystem::copy_file(fixture("pie"), folder / "program");
  std::filesystem::copy_file(fixture("extended"), folder / "program (deleted)");
  live_process process{{folder / "program (deleted)"}};
  const description told{process.lines_until_ready()};
  live_memory memory{process.pid()};
  auto symbols = process_symbols::open(process.pid(), memory, fixture_search());
  REQUIRE(symbols.has_value());
  check_symbols(**symbols, told.symbols);
  CHECK(all_problems(**symbols).empty());
}
