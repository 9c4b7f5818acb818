// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The arguments of real calls, compared with what the called function itself wrote down.
#include <charconv>
#include <iostream>
#include <sstream>

#include "mpiacq/process/code_catalogue.hpp"
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr int calls = 32;  // as many as fixtures/calls/calls.c has

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

std::string program(const std::string& name) {
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
  int all = 0;
  int wrong = 0;
};

/// The score as a line of text.
std::string text_of(const std::string& name, const score& of) {
  return name + ": " + std::to_string(of.known) + " of " + std::to_string(of.all) + " arguments known, " +
         std::to_string(of.described) + " of them by call sites, " + std::to_string(of.wrong) + " wrong\n";
}

bool has_debug_information(const std::string& name) {
  return name.find("debug") != std::string::npos || name.find("dwarf") != std::string::npos;
}

/// Compares all arguments of one call.
void compare(const std::string& name, int number, std::shared_ptr<unwind_tables> tables, score& into) {
  stopped_process p{{program(name), std::to_string(number)}};
  const written_call written = parse(p.lines);
  REQUIRE(written.return_address != 0);
  walker w{p.pid(), std::move(tables)};
  const raw_stack stack = w.walk(p.main_registers());
  const std::size_t frame = frame_before(stack, written.return_address);
  const auto map = code_map::read(p.pid(), w.memory);
  REQUIRE(map.has_value());
  code_catalogue catalogue;
  const find_call_description describe = [&](target_address address) { return catalogue.call_before(*map, address); };
  const auto found = w.stacks->arguments(p.main_registers(), frame, written.arguments.size(), describe);
  REQUIRE(found.has_value());
  CAPTURE(name, number, found->why);
  into.all += static_cast<int>(written.arguments.size());
  for (std::size_t i = 0; i < found->arguments.size(); ++i) {
    const call_argument& argument = found->arguments[i];
    if (!argument.is_known()) continue;
    ++into.known;
    if (argument.source == argument_source::call_site) ++into.described;
    const unsigned bits = written.arguments[i].bits;
    const std::uint64_t mask = bits == 32 ? UINT32_MAX : UINT64_MAX;
    CAPTURE(i, argument.value, argument.from_memory);
    CHECK(argument.bits >= bits);
    CHECK((argument.value & mask) == written.arguments[i].value);
    if ((argument.value & mask) != written.arguments[i].value) ++into.wrong;
  }
}

}  // namespace

TEST_CASE("the arguments of calls are what the called functions got, or unknown") {
  score whole;
  for (const std::string& name : all_programs()) {
    score one;
    const auto tables = std::make_shared<unwind_tables>();
    for (int number = 0; number < calls; ++number) compare(name, number, tables, one);
    std::cout << text_of(name, one);
    CHECK(one.known > 0);
    const bool is_optimised = name.find("_O0") == std::string::npos;
    CHECK((one.described > 0) == (has_debug_information(name) && is_optimised));
    whole.known += one.known;
    whole.described += one.described;
    whole.all += one.all;
    whole.wrong += one.wrong;
  }
  std::cout << text_of("all", whole);
  CHECK(whole.wrong == 0);
  CHECK(whole.known * 2 > whole.all);
}
