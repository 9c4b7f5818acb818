// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The merged tree against a map from whole paths to sets, made by the book and slowly.
#include "mpiacq/ranks/call_tree.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"

using namespace mpiacq;

namespace {

std::shared_ptr<const code_place> place(const std::string& function, std::uint32_t line = 1) {
  return std::make_shared<const code_place>(code_place{function, function + ".c", line, "/bin/app", {}});
}

/// Innermost first, as an unwinder gives it.
thread_stack stack_of(const std::vector<std::string>& outermost_first, stack_end end = stack_end::outermost) {
  thread_stack stack;
  for (auto f = outermost_first.rbegin(); f != outermost_first.rend(); ++f) stack.frames.push_back({{}, place(*f)});
  stack.end = end;
  if (end != stack_end::outermost) stack.why = "for the test's sake";
  return stack;
}

using path = std::vector<std::string>;

struct naive_node {
  std::set<std::uint32_t> ranks, standing;
  std::map<std::uint32_t, std::set<int>> samples_of;  ///< in which samples each rank was here
  std::uint64_t stacks = 0, ending = 0;
};
using naive_tree = std::map<path, naive_node>;

void add(naive_tree& tree, std::uint32_t rank, const path& frames, int sample) {
  for (std::size_t length = 0; length <= frames.size(); ++length) {
    naive_node& n = tree[path(frames.begin(), frames.begin() + static_cast<long>(length))];
    n.ranks.insert(rank);
    n.samples_of[rank].insert(sample);
    ++n.stacks;
    if (length < frames.size()) continue;
    n.standing.insert(rank);
    ++n.ending;
  }
}

path path_of(const call_tree& tree, call_tree::node_number number) {
  path names;
  for (; number != call_tree::root; number = tree[number].parent) {
    const auto& n = tree[number];
    names.push_back(n.is_cut() ? std::string(name(n.end)) : n.place->function);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

rank_set set_of(const std::set<std::uint32_t>& ranks) {
  rank_set made;
  for (const std::uint32_t rank : ranks) made.add(rank);
  return made;
}

void check_equal(const call_tree& tree, const naive_tree& naive) {
  REQUIRE(tree.size() == std::max<std::size_t>(naive.size(), 1));
  std::set<path> seen;
  for (const auto number : tree.in_order()) {
    if (naive.empty()) break;
    const auto& n = tree[number];
    const path here = path_of(tree, number);
    CAPTURE(here);
    REQUIRE(naive.contains(here));
    CHECK(seen.insert(here).second);
    const naive_node& expected = naive.at(here);
    CHECK(n.ranks == set_of(expected.ranks));
    CHECK(n.standing == set_of(expected.standing));
    CHECK(n.stacks == expected.stacks);
    CHECK(n.stacks_ending == expected.ending);
    std::set<std::uint32_t> steady;
    for (const auto& [rank, samples] : expected.samples_of) {
      if (samples == naive.at({}).samples_of.at(rank)) steady.insert(rank);
    }
    CHECK(n.steady == set_of(steady));
    CHECK(n.moved() == (steady != expected.ranks));
    if (number == call_tree::root) continue;
    CHECK(seen.contains(path_of(tree, n.parent)));
    const auto siblings = tree.children(n.parent);
    CHECK(std::is_sorted(siblings.begin(), siblings.end(),
                         [&](auto a, auto b) { return tree[a].ranks.lowest() < tree[b].ranks.lowest(); }));
  }
}

}  // namespace

TEST_CASE("an empty tree has its root alone") {
  const call_tree tree;
  CHECK(tree.empty());
  CHECK(tree.samples() == 0);
  CHECK(tree.size() == 1);
  CHECK(tree.in_order() == std::vector<call_tree::node_number>{call_tree::root});
}

TEST_CASE("ranks part where their stacks do") {
  call_tree tree;
  tree.add(entry_index{3}, stack_of({"main", "settle", "barrier"}));
  tree.add(entry_index{0}, stack_of({"main", "exchange", "receive"}));
  tree.add(entry_index{1}, stack_of({"main", "settle", "barrier"}));
  tree.add(entry_index{2}, stack_of({"main", "settle"}));
  const auto mains = tree.children(call_tree::root);
  REQUIRE(mains.size() == 1);
  CHECK(tree[mains[0]].ranks.text() == "0-3");
  const auto below = tree.children(mains[0]);
  REQUIRE(below.size() == 2);
  CHECK(tree[below[0]].place->function == "exchange");
  CHECK(tree[below[0]].ranks.text() == "0");
  CHECK(tree[below[1]].place->function == "settle");
  CHECK(tree[below[1]].ranks.text() == "1-3");
  CHECK(tree[below[1]].standing.text() == "2");
  CHECK(tree[below[1]].stacks_ending == 1);
}

TEST_CASE("places are the same by what they say, not by who says it") {
  call_tree tree;
  auto inlined = stack_of({"main", "work"});
  inlined.frames.front().inlined = true;
  tree.add(entry_index{0}, stack_of({"main", "work"}));
  tree.add(entry_index{1}, stack_of({"main", "work"}));
  tree.add(entry_index{2}, inlined);
  thread_stack elsewhere = stack_of({"main", "work"});
  elsewhere.frames.front().place = place("work", 2);
  tree.add(entry_index{3}, elsewhere);
  const auto below = tree.children(tree.children(call_tree::root).front());
  REQUIRE(below.size() == 3);
  CHECK(tree[below[0]].ranks.text() == "0-1");
  CHECK(tree[below[1]].ranks.text() == "2");
  CHECK(tree[below[1]].inlined);
  CHECK(tree[below[2]].place->line == 2);
}

TEST_CASE("stacks whose ends were cut off keep the reason and stand apart") {
  call_tree tree;
  tree.add(entry_index{0}, stack_of({"main", "work"}));
  tree.add(entry_index{1}, stack_of({"work"}, stack_end::no_unwind_info));
  tree.add(entry_index{2}, stack_of({}, stack_end::unreadable_memory));
  tree.add(entry_index{3}, stack_of({"work"}, stack_end::no_unwind_info));
  const auto tops = tree.children(call_tree::root);
  REQUIRE(tops.size() == 3);
  CHECK(tree[tops[1]].end == stack_end::no_unwind_info);
  CHECK(tree[tops[1]].why == "for the test's sake");
  CHECK(tree[tops[1]].ranks.text() == "1,3");
  CHECK(tree[tree.children(tops[1]).front()].place->function == "work");
  CHECK(tree[tops[2]].standing.text() == "2");
}

TEST_CASE("threads are those of a moment, stacks those of all") {
  call_tree first;
  for (int thread = 0; thread < 5; ++thread) first.add(entry_index{0}, stack_of({"start", "work"}));
  call_tree second;
  for (int thread = 0; thread < 3; ++thread) second.add(entry_index{0}, stack_of({"start", "work"}));
  call_tree other;
  other.add(entry_index{1}, stack_of({"start", "work"}));
  call_tree all = first;
  all.add_sample(second);
  CHECK(all.samples() == 2);
  CHECK(all[call_tree::root].threads == 5);
  CHECK(all[call_tree::root].stacks == 8);
  all.merge(other);
  CHECK(all.samples() == 2);
  CHECK(all[call_tree::root].threads == 6);
  CHECK(all[call_tree::root].stacks == 9);
}

TEST_CASE("a recursion of a hundred thousand frames is a path like any other") {
  const path deep(100'000, "f");
  call_tree tree;
  for (std::uint32_t rank = 0; rank < 4; ++rank) tree.add(entry_index{rank}, stack_of(deep));
  call_tree twice = tree;
  twice.add_sample(tree);
  CHECK(twice.size() == 100'001);
  CHECK(twice.in_order().size() == 100'001);
  CHECK(twice[100'000].standing.text() == "0-3");
}

TEST_CASE("trees are what a naive merge makes, however they came about") {
  std::mt19937 source(7);  // NOLINT: the same numbers in every run
  const auto random = [&] { return static_cast<std::uint32_t>(source()); };
  const std::vector<std::string> functions = {"a", "b", "c"};
  for (int round = 0; round < 300; ++round) {
    call_tree all;
    naive_tree naive;
    const int samples = 1 + static_cast<int>(random() % 4);
    const std::uint32_t ranks = 1 + random() % 12;
    const std::uint32_t left_out_of_ten = random() % 10;
    for (int sample = 0; sample < samples; ++sample) {
      std::vector<call_tree> nodes(1 + random() % 3);
      // A node has some of the ranks, in any order; a rank may be missing in a sample.
      std::vector<std::uint32_t> order(ranks);
      for (std::uint32_t i = 0; i < ranks; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), source);
      for (const std::uint32_t rank : order) {
        if (random() % 10 < left_out_of_ten) continue;
        for (std::uint32_t threads = 1 + random() % 3; threads > 0; --threads) {
          path frames;
          for (std::uint32_t depth = random() % 6; depth > 0; --depth) frames.push_back(functions[random() % 3]);
          const bool cut = random() % 5 == 0;
          nodes[rank % nodes.size()].add(entry_index{rank},
                                         stack_of(frames, cut ? stack_end::no_progress : stack_end::outermost));
          if (cut) frames.insert(frames.begin(), std::string(name(stack_end::no_progress)));
          add(naive, rank, frames, sample);
        }
      }
      call_tree moment;
      for (const call_tree& node : nodes) moment.merge(node);
      all.add_sample(moment);
    }
    check_equal(all, naive);
  }
}
