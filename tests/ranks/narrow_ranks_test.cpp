// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks of 32-bit programs beside ranks of 64-bit ones: their stacks, with names.
#include <algorithm>

#include "catch.hpp"
#include "live_process.hpp"
#include "node_ranks.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

#ifdef MPIACQ_HAVE_32_BIT_STACKS
constexpr bool have_32_bits = true;
#else
constexpr bool have_32_bits = false;
#endif

std::vector<std::string> functions_of(const thread_stack& stack) {
  std::vector<std::string> names;
  for (const stack_frame& frame : stack.frames) names.push_back(frame.place->function);
  return names;
}

std::ptrdiff_t count_of(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name);
}

}  // namespace

TEST_CASE("stacks of ranks of 32 and of 64 bits are taken together, with the names of their functions") {
  if (!have_32_bits)
    MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none");
  const std::string folder = MPIACQ_STACKS;
  live_process narrow{{folder + "/i386_frame_pointers", "recursion", "7"}};
  live_process wide{{folder + "/frame_pointers", "recursion", "7"}};
  live_process interrupted{{folder + "/i386_optimised", "fault", "2"}};
  std::vector<process_id> ranks;
  for (live_process* process : {&narrow, &wide, &interrupted}) {
    (void)process->lines_until_ready();
    ranks.push_back(process->pid());
  }
  auto node = node_ranks::of_processes(ranks);
  REQUIRE(node.has_value());
  for (int look = 0; look < 2; ++look) {
    const node_stacks taken = (*node)->stacks();
    REQUIRE(taken.ranks.size() == 3);
    for (const rank_stacks& rank : taken.ranks) {
      CAPTURE(rank.entry.value(), look);
      REQUIRE(rank.taken.has_value());
      REQUIRE(rank.threads.size() == 1);
      const thread_stack& stack = rank.threads.front();
      const auto names = functions_of(stack);
      CAPTURE(names, stack.why);
      CHECK(stack.end == stack_end::outermost);
      CHECK(count_of(names, "main") == 1);
      CHECK(count_of(names, "leaf") == 1);
      CHECK(count_of(names, "recurse") == (rank.entry.value() == 2 ? 3 : 8));
      CHECK(count_of(names, "<signal handler called>") == (rank.entry.value() == 2 ? 1 : 0));
      CHECK(count_of(names, "fault_at_once") == (rank.entry.value() == 2 ? 1 : 0));
    }
  }
}
