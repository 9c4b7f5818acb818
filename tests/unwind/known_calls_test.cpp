// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The arguments of real calls, compared with what the called function itself wrote down.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <sstream>

#include "mpiacq/process/code_catalogue.hpp"
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr int call_count = 38;      // as many as fixtures/calls/calls.c has
constexpr int first_by_table = 32;  // from this one on, the calling functions jump through tables

/// What one run of a program wrote down.
struct written_call {
  struct argument {
    unsigned bits = 0;
    std::uint64_t value = 0;
  };
  std::vector<argument> arguments;
  std::uint64_t return_address = 0;
};

written_call parse(const std::vector<std::string>& lines) {
  written_call call;
  for (const std::string& line : lines) {
    std::istringstream words{line};
    std::string what;
    words >> what;
    if (what == "call") words >> std::hex >> call.return_address;
    if (what != "argument") continue;
    written_call::argument& added = call.arguments.emplace_back();
    words >> std::dec >> added.bits >> std::hex >> added.value;
  }
  return call;
}

std::vector<std::string> all_programs() {
  std::vector<std::string> names;
  std::istringstream list{MPIACQ_CALLS_PROGRAMS};
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

std::string calls_program(const std::string& name) {
  return std::string(MPIACQ_CALLS) + "/" + name;
}

/// The frame of the function that returns to `address`.
std::size_t frame_before(const raw_stack& stack, std::uint64_t address) {
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    if (stack.frames[i].pc.value() == address) return i - 1;
  }
  FAIL("the stack has no call before " << address);
  return 0;
}

struct score {
  int known = 0;
  int described = 0;  ///< known from the description of the call in debug information
  int in_frame = 0;   ///< known from the called function's own frame alone
  int all = 0;
  int wrong = 0;
};

/// The score as a line of text.
std::string text_of(const std::string& name, const score& of) {
  return name + ": " + std::to_string(of.known) + " of " + std::to_string(of.all) + " arguments known, " +
         std::to_string(of.described) + " of them by call sites, " + std::to_string(of.in_frame) +
         " in the called function, " + std::to_string(of.wrong) + " wrong\n";
}

/// Of the called functions, and not of the program.
bool has_described_functions(const std::string& name) {
  return name.find("_called_") != std::string::npos;
}

bool has_debug_information(const std::string& name) {
  if (has_described_functions(name)) return false;
  return name.find("debug") != std::string::npos || name.find("dwarf") != std::string::npos;
}

/// What the runs of one program share.
struct known_program {
  std::string name;
  std::shared_ptr<unwind_tables> tables = std::make_shared<unwind_tables>();
  code_catalogue catalogue{};
};

/// Compares all arguments of one call.
void compare(known_program& of, int number, score& into) {
  const std::string& name = of.name;
  stopped_process p{{calls_program(name), std::to_string(number)}};
  const written_call written = parse(p.lines);
  REQUIRE(written.return_address != 0);
  walker w{p.pid(), of.tables};
  const raw_stack stack = w.walk(p.main_registers());
  const std::size_t frame = frame_before(stack, written.return_address);
  const auto map = code_map::read(p.pid(), w.memory);
  REQUIRE(map.has_value());
  const find_call_description describe = [&](target_address address) {
    return of.catalogue.call_before(*map, address);
  };
  const find_parameter_places places = [&](target_address pc) { return of.catalogue.parameters_around(*map, pc); };
  const auto found = w.stacks->arguments(p.main_registers(), frame, written.arguments.size(), describe, places);
  REQUIRE(found.has_value());
  CAPTURE(name, number, found->why);
  into.all += static_cast<int>(written.arguments.size());
  const int known_before = into.known;
  for (std::size_t i = 0; i < found->arguments.size(); ++i) {
    const call_argument& argument = found->arguments[i];
    if (!argument.is_known()) continue;
    ++into.known;
    if (argument.source == argument_source::call_site) ++into.described;
    if (argument.source == argument_source::debug_information) ++into.in_frame;
    const unsigned bits = written.arguments[i].bits;
    const std::uint64_t mask = bits == 32 ? UINT32_MAX : UINT64_MAX;
    CAPTURE(i, argument.value, argument.from_memory);
    CHECK(argument.bits >= bits);
    CHECK((argument.value & mask) == written.arguments[i].value);
    if ((argument.value & mask) != written.arguments[i].value) ++into.wrong;
  }
  if (number >= first_by_table) CHECK(into.known > known_before);
}

/// Compares all calls of the programs that `is_meant` names.
template <class Wanted>
void compare_programs(Wanted is_meant) {
  score whole;
  for (const std::string& name : all_programs()) {
    if (!is_meant(name)) continue;
    score one;
    known_program program{name};
    for (int number = 0; number < call_count; ++number) compare(program, number, one);
    std::cout << text_of(name, one);
    CHECK(one.known > 0);
    const bool is_optimised = name.find("_O0") == std::string::npos;
    CHECK((one.described > 0) == (has_debug_information(name) && is_optimised));
    CHECK((one.in_frame > 0) == has_described_functions(name));
    whole.known += one.known;
    whole.described += one.described;
    whole.in_frame += one.in_frame;
    whole.all += one.all;
    whole.wrong += one.wrong;
  }
  std::cout << text_of("all", whole);
  CHECK(whole.wrong == 0);
  CHECK(whole.known * 2 > whole.all);
}

}  // namespace

TEST_CASE("the arguments of calls in gcc's programs are what the called functions got, or unknown") {
  compare_programs([](const std::string& name) {
    return name.starts_with("gcc") && !has_debug_information(name) && !has_described_functions(name);
  });
}

TEST_CASE("the arguments of calls in clang's programs are what the called functions got, or unknown") {
  const std::vector<std::string> all = all_programs();
  const auto is_by_clang = [](const std::string& name) { return name.starts_with("clang"); };
  if (std::none_of(all.begin(), all.end(), is_by_clang)) MPIACQ_SKIP("clang is not installed");
  compare_programs([&](const std::string& name) {
    return is_by_clang(name) && !has_debug_information(name) && !has_described_functions(name);
  });
}

TEST_CASE("the arguments of calls in programs with debug information are what the called functions got, or unknown") {
  compare_programs(has_debug_information);
}

TEST_CASE("the parameters of functions with debug information are what these functions got, or unknown") {
  compare_programs(has_described_functions);
}
