// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "description.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::test {

/// A running fixture, what it says about itself, and its symbols as we read them.
struct observed {
  explicit observed(std::vector<std::string> arguments, const debug_file_search& search = fixture_search())
      : process(std::move(arguments)), told(process.lines_until_ready()), memory(process.pid()) {
    auto opened = process_symbols::open(process.pid(), memory, search);
    if (!opened) FAIL(opened.error().message);
    symbols = std::move(*opened);
  }

  live_process process;
  description told;
  live_memory memory;
  std::unique_ptr<process_symbols> symbols;
};

inline std::string all_problems(const process_symbols& of) {
  std::string text;
  for (const error& e : of.problems()) text += e.message + "\n";
  return text;
}

}  // namespace mpiacq::test
