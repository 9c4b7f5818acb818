// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which frames of a tree are the MPI calls of the programs.
#include "mpiacq/ranks/tree_calls.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace mpiacq;

namespace {

/// A stack of these functions, the outermost one first.
thread_stack stack_with_lines(const std::vector<std::string>& outermost_first, stack_end end = stack_end::outermost) {
  thread_stack stack;
  stack.end = end;
  std::uint32_t line = 10 * static_cast<std::uint32_t>(outermost_first.size());
  for (auto one = outermost_first.rbegin(); one != outermost_first.rend(); ++one, line -= 10) {
    stack.frames.push_back({{}, std::make_shared<const code_place>(code_place{*one, "app.c", line, "/bin/app", {}})});
  }
  return stack;
}

std::vector<std::string> functions_in(const call_tree& tree) {
  std::vector<std::string> functions;
  for (const tree_call& one : calls_of_programs(tree)) functions.push_back(one.call.function);
  return functions;
}

}  // namespace

TEST_CASE("calls in a tree: the outermost MPI function of a path is the call, with the place that calls it") {
  call_tree tree;
  tree.add(entry_index{4}, stack_with_lines({"main", "solve", "PMPI_Allreduce", "MPI_Send", "poll"}));
  const auto calls = calls_of_programs(tree);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].call.function == "MPI_Allreduce");
  CHECK(calls[0].call.at == call_site{"solve", "app.c", 20});
  CHECK(tree[calls[0].node].place->function == "PMPI_Allreduce");
}

TEST_CASE("calls in a tree: each branch has its own call, and a path without an MPI function has none") {
  call_tree tree;
  tree.add(entry_index{0}, stack_with_lines({"main", "mpi_recv_", "MPI_Recv", "poll"}));
  tree.add(entry_index{1}, stack_with_lines({"main", "MPI_Bcast", "MPI_Recv"}));
  tree.add(entry_index{2}, stack_with_lines({"main", "compute"}));
  CHECK(functions_in(tree) == std::vector<std::string>{"MPI_Recv", "MPI_Bcast"});
  CHECK(functions_in(call_tree{}).empty());
}

TEST_CASE("calls in a tree: a function without a name is no call, and a caller that is missing is not known") {
  call_tree tree;
  tree.add(entry_index{0}, stack_with_lines({"", "MPI_Barrier"}));
  tree.add(entry_index{1}, stack_with_lines({"MPI_Wait", "poll"}, stack_end::no_unwind_info));
  const auto calls = calls_of_programs(tree);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].call.at == call_site{"", "app.c", 10});
  CHECK(calls[1].call.function == "MPI_Wait");
  CHECK_FALSE(calls[1].call.at.is_known());
}
