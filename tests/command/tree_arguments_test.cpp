// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The arguments of MPI calls at the frames of a merged tree.
#include "report/text/tree_arguments.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace mpiacq::tool;

namespace {

mpi_argument number(mpi_role role, std::int64_t value) {
  return {role, true, false, value, ""};
}

/// A tree of ranks that are in MPI_Recv below main, and what is known of their calls.
struct look {
  call_tree tree;
  std::vector<stacked_rank> ranks;

  thread_stack stack(std::uint32_t line) const {
    thread_stack made;
    made.frames.push_back({{}, std::make_shared<code_place>(code_place{"PMPI_Recv", "", 0, "/lib/libmpi.so", {}})});
    made.frames.push_back({{}, std::make_shared<code_place>(code_place{"main", "app.c", line, "/bin/app", {}})});
    return made;
  }
  void add(std::uint32_t rank, std::uint32_t line, std::vector<mpi_argument> arguments) {
    tree.add(entry_index{rank}, stack(line));
    rank_activity doing = activity_in("PMPI_Recv");
    doing.arguments = std::move(arguments);
    doing.at = {"main", "app.c", line};
    ranks.push_back({entry_index{rank}, process_id{100 + rank}, "", true, 1, {}, doing});
  }
  /// The frame of PMPI_Recv below the line of main.
  [[nodiscard]] call_tree::node_number receive_at(std::uint32_t line) const {
    for (call_tree::node_number i = 1; i < tree.size(); ++i) {
      if (tree[i].place->function == "PMPI_Recv" && tree[tree[i].parent].place->line == line) return i;
    }
    return call_tree::root;
  }
};

std::vector<mpi_argument> from(std::int64_t source) {
  return {number(mpi_role::source, source), number(mpi_role::tag, 7)};
}

}  // namespace

TEST_CASE("arguments in the tree: ranks with the same arguments share them at their frame, and lines are apart") {
  look seen;
  seen.add(0, 10, from(3));
  seen.add(1, 10, from(3));
  seen.add(2, 12, from(0));
  const tree_arguments shown(seen.tree, seen.ranks);
  CHECK(shown.of_all(seen.receive_at(10)) == "(source 3, tag 7)");
  CHECK(shown.of_all(seen.receive_at(12)) == "(source 0, tag 7)");
  CHECK(shown.of_groups(seen.receive_at(10), {}).empty());
  CHECK(shown.of_all(seen.tree[seen.receive_at(10)].parent).empty());
}

TEST_CASE("arguments in the tree: ranks with different arguments form groups, of which a few are shown") {
  look seen;
  seen.add(0, 10, from(1));
  seen.add(1, 10, {});
  seen.add(2, 10, from(1));
  CHECK(tree_arguments(seen.tree, seen.ranks).of_all(seen.receive_at(10)).empty());
  CHECK(tree_arguments(seen.tree, seen.ranks).of_groups(seen.receive_at(10), {}) ==
        std::vector<std::string>{"0,2: (source 1, tag 7)", "1: arguments not known"});
  look many;
  for (std::uint32_t rank = 0; rank < 9; ++rank) many.add(rank, 10, from(rank));
  const auto lines = tree_arguments(many.tree, many.ranks).of_groups(many.receive_at(10), {});
  REQUIRE(lines.size() == 5);
  CHECK(lines[3] == "3: (source 3, tag 7)");
  CHECK(lines[4] == "and 5 more: see --json");
}

TEST_CASE("arguments in the tree: nothing is shown if no argument is known, or if the caller did not ask for them") {
  look seen;
  seen.add(0, 10, {});
  seen.add(1, 10, {});
  CHECK(tree_arguments(seen.tree, seen.ranks).of_all(seen.receive_at(10)).empty());
  CHECK(tree_arguments(seen.tree, seen.ranks).of_groups(seen.receive_at(10), {}).empty());
  look unasked;
  unasked.add(0, 10, from(1));
  unasked.ranks.front().doing.reset();
  CHECK(tree_arguments(unasked.tree, unasked.ranks).of_all(unasked.receive_at(10)).empty());
}

TEST_CASE("arguments in the tree: where another thread may be the one in the call, no arguments are shown") {
  look seen;
  seen.add(0, 10, from(1));
  seen.tree.add(entry_index{0}, seen.stack(10));
  CHECK(tree_arguments(seen.tree, seen.ranks).of_all(seen.receive_at(10)).empty());
  // A thread at another line is not the first thread.
  look apart;
  apart.add(0, 10, from(1));
  apart.tree.add(entry_index{0}, apart.stack(12));
  CHECK(tree_arguments(apart.tree, apart.ranks).of_all(apart.receive_at(10)) == "(source 1, tag 7)");
  CHECK(tree_arguments(apart.tree, apart.ranks).of_all(apart.receive_at(12)).empty());
}
