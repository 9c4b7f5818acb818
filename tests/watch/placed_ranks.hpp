// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Samples of stacks made up by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiacq/ranks/rank_results.hpp"

namespace mpiacq::test {

/// A rank with its calls, the outermost first, and the line of each function of the program; "libc" is in a module of
/// the system, as MPI's functions are.
struct placed_rank {
  std::uint32_t rank = 0;
  std::vector<std::string> calls;
  std::uint32_t line = 0;
};

inline group_stacks sample_of(const std::vector<placed_rank>& ranks) {
  group_stacks made;
  for (const placed_rank& one : ranks) {
    thread_stack stack;
    for (auto call = one.calls.rbegin(); call != one.calls.rend(); ++call) {
      auto place = std::make_shared<code_place>();
      place->function = *call;
      const bool is_foreign = call->starts_with("MPI_") || *call == "libc";
      place->module_path = is_foreign ? "/usr/lib/libforeign.so" : "/bin/app";
      place->file = is_foreign ? "" : "app.c";
      place->line = is_foreign ? 0 : one.line;
      stack.frames.push_back({{}, place, false});
    }
    made.tree.add(entry_index{one.rank}, stack);
    made.taken.add(one.rank);
  }
  return made;
}

}  // namespace mpiacq::test
