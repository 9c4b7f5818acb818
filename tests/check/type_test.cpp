// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Declared types as debug information has them, against gdb's `whatis` and `sizeof` of the same variable.
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gdb.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// As gdb calls what the compiler calls "long int".
std::string plain(const std::string& name) {
  if (name == "long int") return "long";
  return name == "long unsigned int" ? "unsigned long" : name;
}

/// In gdb's words.
std::string text_of(const variable_type& type) {
  const std::string prefix = type.is_volatile ? "volatile " : "";
  switch (type.kind) {
    case type_kind::pointer:
      return type.inner_name + " *";
    case type_kind::array:
      return prefix + type.inner_name + " [" + std::to_string(type.size / type.inner_size) + "]";
    default:
      return prefix + plain(type.name);
  }
}

/// What one gdb says of each expression, in their order.
std::vector<std::string> gdb(const std::string& program, const std::vector<std::string>& expressions) {
  std::vector<std::string> what;
  for (const std::string& expression : expressions) what.insert(what.end(), {"-ex", expression});
  what.push_back(program);
  const auto said = run_command(gdb_command(what, MPIACQ_STARTERS "/debug"));
  INFO(said.out << said.err);
  std::vector<std::string> all;
  std::istringstream lines{said.out};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find(" = ");
    REQUIRE(begin != std::string::npos);
    all.push_back(line.substr(begin + 3));
  }
  return all;
}

}  // namespace

TEST_CASE("types of variables agree with gdb") {
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  const auto name = GENERATE(
      values<std::string>({"checked", "checked_breaks_9_1", "checked_breaks_9_3a", "checked_breaks_9_4a",
                           "checked_breaks_9_17a", "checked_separated", "starter_dwarf4", "starter_compressed"}));
  INFO(name);
  const std::string program = MPIACQ_STARTERS "/" + name;
  auto source = file_symbols::open(program, {{MPIACQ_STARTERS "/debug"}, false});
  REQUIRE(source.has_value());
  const auto near = (*source)->find_symbol("MPIR_Breakpoint");
  REQUIRE((near.has_value() && near->has_value()));
  const std::string unit = name.starts_with("checked") ? "'checked_interface.c'" : "'mpir.c'";
  std::vector<std::string> questions;
  std::vector<std::string> read;
  for (const char* variable : {"MPIR_being_debugged", "MPIR_debug_state", "MPIR_proctable", "MPIR_proctable_size",
                               "MPIR_debug_abort_string", "MPIR_executable_path", "MPIR_attach_fifo", "MPI2DD_info"}) {
    const auto symbol = (*source)->find_symbol(variable);
    REQUIRE(symbol.has_value());
    if (!*symbol) continue;
    INFO(variable);
    const auto type = (*source)->type_of(**symbol, &**near);
    REQUIRE((type.has_value() && type->has_value()));
    // Its own unit's: others declare some of them otherwise.
    const std::string there = unit + "::" + variable;
    questions.insert(questions.end(), {"whatis " + there, "print sizeof(" + there + ")"});
    read.insert(read.end(), {text_of(**type), std::to_string((*type)->size)});
    CHECK(((*type)->source == layout_source::debug_file) == (name == "checked_separated"));
  }
  CHECK(read.size() >= 10);
  CHECK(read == gdb(program, questions));
}

TEST_CASE("a variable without debug information has no type") {
  auto source = file_symbols::open(MPIACQ_STARTERS "/checked_no_debug");
  REQUIRE(source.has_value());
  const auto symbol = (*source)->find_symbol("MPIR_debug_state");
  REQUIRE((symbol.has_value() && symbol->has_value()));
  const auto type = (*source)->type_of(**symbol, nullptr);
  REQUIRE(type.has_value());
  CHECK_FALSE(type->has_value());
}
