// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The expected text of docs/symbols.md.
std::string page() {
  std::ostringstream out;
  out << R"(# The symbols of the interface

Sections are those of *The MPIR Process Acquisition Interface*, version 1.1. Any other name in this column is the
software that defines the symbol. The test `mpir` compares this page with the library's table; run the test with
`MPIACQ_WRITE_DOCS=1` to write the page anew.

| symbol | also spelt | section | required | form | found in | written by | meaning |
|---|---|---|---|---|---|---|---|
)";
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    out << "| `" << s.name << "` | " << (s.other_spelling.empty() ? "" : "`" + std::string(s.other_spelling) + "`")
        << " | " << s.section << " | " << (s.required ? "yes" : "no") << " | " << mpir::name(s.form)
        << (s.elements != 0 ? " [" + std::to_string(s.elements) + "]" : "") << " | " << mpir::name(s.where) << " | "
        << mpir::name(s.writer) << " | " << s.meaning << " |\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("the page of symbols says what the table says") {
  const std::string path = std::string(MPIACQ_DOCS_FOLDER) + "/symbols.md";
  if (std::getenv("MPIACQ_WRITE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(text.str() == page());
}

TEST_CASE("every symbol of the document's chapter 9 is known, required as it says") {
  const std::map<std::string, std::string> document{
      {"MPIR_being_debugged", "9.3"},   {"MPIR_proctable", "9.4"},          {"MPIR_proctable_size", "9.5"},
      {"MPIR_debug_state", "9.6"},      {"MPIR_debug_abort_string", "9.7"}, {"MPIR_debug_gate", "9.8"},
      {"MPIR_Breakpoint", "9.9"},       {"MPIR_i_am_starter", "9.10"},      {"MPIR_acquired_pre_main", "9.11"},
      {"MPIR_force_to_main", "9.12"},   {"MPIR_partial_attach_ok", "9.13"}, {"MPIR_ignore_queues", "9.14"},
      {"MPIR_executable_path", "9.15"}, {"MPIR_server_arguments", "9.16"},  {"MPIR_attach_fifo", "9.17"}};
  const std::set<std::string> required{"MPIR_proctable", "MPIR_proctable_size", "MPIR_debug_state", "MPIR_Breakpoint"};
  std::map<std::string, std::string> known;
  std::set<std::string> names;
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (s.section.starts_with("9.")) known.emplace(s.name, s.section);
    CHECK(s.required == required.contains(std::string(s.name)));
    CHECK(names.insert(std::string(s.name)).second);
    CHECK_FALSE(s.meaning.empty());
  }
  CHECK(known == document);
}

TEST_CASE("the symbols of other documents are known too, and the sizes of arrays") {
  const std::set<std::string> others{
      "totalview_jobid",       "totalview_stepid",    "MPIR_forward_output", "MPIR_forward_comm",
      "MPIR_dll_name",         "MPIR_subset_attach",  "MPIR_breakpointFn",   "MPIR_debug_typedefs_sizeof",
      "mpimsgq_dll_locations", "mpidbg_dll_locations"};
  const std::map<std::string, unsigned> sizes{{"MPIR_executable_path", 256},
                                              {"MPIR_server_arguments", 1024},
                                              {"MPIR_attach_fifo", 256},
                                              {"MPIR_subset_attach", 4096},
                                              {"MPIR_debug_typedefs_sizeof", 7}};
  std::set<std::string> known;
  std::map<std::string, unsigned> arrays;
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (!s.section.starts_with("9.")) known.emplace(s.name);
    if (s.elements != 0) arrays.emplace(s.name, s.elements);
    CHECK(mpir::about(s.id).name == s.name);
  }
  CHECK(known == others);
  CHECK(arrays == sizes);
}

TEST_CASE("symbols are looked up together, in either spelling: first in loaded tables, then in all files") {
  fake_symbols symbols;
  symbols.define("MPIR_Breakpoint", target_address{0x11000});
  symbols.define("MPIR_I_am_starter", target_address{0x12000});
  symbols.define("MPIR_Ignore_queues", target_address{0x13000});
  symbols.define("MPIR_ignore_queues", target_address{0x14000});
  const auto found = mpir::find_symbols(symbols);
  REQUIRE(found.has_value());
  REQUIRE(symbols.scopes.size() == 2);
  CHECK(symbols.scopes[0].loaded_only);
  CHECK_FALSE(symbols.scopes[1].loaded_only);
  CHECK(symbols.scopes[1].only_in == nullptr);
  CHECK((*found)[mpir::known::breakpoint]->address() == target_address{0x11000});
  CHECK((*found)[mpir::known::i_am_starter]->name == "MPIR_I_am_starter");
  CHECK((*found)[mpir::known::ignore_queues]->address() == target_address{0x14000});  // the document's own comes first
  CHECK_FALSE(found->complete());
  CHECK(found->missing() == std::vector<std::string_view>{"MPIR_debug_state", "MPIR_proctable", "MPIR_proctable_size"});
}

TEST_CASE("if all required symbols are loaded, the others are searched only in the breakpoint's module") {
  fake_starter starter;
  starter.define_interface();
  REQUIRE(mpir::find_symbols(starter.symbols).value().complete());
  REQUIRE(starter.symbols.scopes.size() == 2);
  CHECK(starter.symbols.scopes[0].loaded_only);
  CHECK(starter.symbols.scopes[1].only_in == starter.symbols.home.get());
}

TEST_CASE("a module that cannot be read is an error, not an absence") {
  fake_symbols symbols;
  symbols.find_error = error{error_code::bad_format, "libx.so: no ELF file"};
  CHECK(mpir::find_symbols(symbols).error().message == "libx.so: no ELF file");
}
