// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A running program of fixtures/code, and its output about its own places.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "live_process.hpp"
#include "mpiacq/process/code_catalogue.hpp"

namespace mpiacq::test {

inline std::string code_fixture(const std::string& name) {
  return std::string{MPIACQ_CODE_FIXTURES} + "/" + name;
}

/// Debug files are searched for among the fixtures, and no server is asked.
inline debug_file_search code_search() {
  return {{code_fixture("debug")}, false};
}

/// A call of `here`: its return address, and the names that the program prints for it.
struct told_place {
  target_address pc;
  std::uint32_t line = 0;
  std::vector<std::string> functions;  ///< innermost first
};

/// Runs until the program prints `done`.
struct code_program {
  explicit code_program(const std::string& path) : process({path}), memory(process.pid()) {
    for (const std::string& text : process.lines_until_ready()) {
      lines.push_back(text);
      std::istringstream words{text};
      std::string what;
      std::string names;
      told_place place;
      std::uint64_t pc = 0;
      words >> what >> std::hex >> pc >> std::dec >> place.line;
      if (what != "here") continue;
      place.pc = target_address{pc};
      std::getline(words >> std::ws, names);
      std::istringstream list{names};
      for (std::string name; std::getline(list, name, '|');) place.functions.push_back(name);
      told.push_back(place);
    }
  }
  [[nodiscard]] code_map map() {
    auto read = code_map::read(process.pid(), memory);
    if (!read) FAIL(read.error().message);
    return *read;
  }

  live_process process;
  live_memory memory;
  std::vector<std::string> lines;
  std::vector<told_place> told;
};

inline std::vector<std::string> functions_of(const code_places& places) {
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(place->function);
  return names;
}

inline std::string text_of(const std::vector<error>& problems) {
  std::string text;
  for (const error& e : problems) text += e.message + "\n";
  return text;
}

}  // namespace mpiacq::test
