// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Parts of answers, in whatever order they come and however often.
#include "gathering.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "sample_messages.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;

namespace {

answer stacks_of(const rank_set& agents, const std::vector<std::string>& calls) {
  stacks_part part;
  for (const auto& range : agents.ranges()) {
    for (std::uint32_t rank = range.first; rank <= range.last; ++rank) {
      test::add_stack(part.tree, rank, calls);
      part.taken.add(rank);
    }
  }
  return {1, agents, {}, std::move(part)};
}

}  // namespace

TEST_CASE("gathering: parts make the same whole in any order, and nothing counts twice") {
  std::vector<answer> parts;
  for (std::uint32_t agent = 0; agent < 12; ++agent)
    parts.push_back(stacks_of(rank_set(agent), {"main", agent % 2 == 0 ? "even" : "odd"}));
  std::mt19937 chance(1);
  for (int time = 0; time < 20; ++time) {
    std::shuffle(parts.begin(), parts.end(), chance);
    gathering all(1);
    for (const answer& part : parts) CHECK(all.add(answer(part)));
    for (const answer& part : parts) CHECK_FALSE(all.add(answer(part)));
    const answer whole = all.take();
    CHECK(whole.agents.text() == "0-11");
    const auto& tree = std::get<stacks_part>(*whole.what).tree;
    REQUIRE(tree.size() == 4);
    CHECK(tree[call_tree::root].stacks == 12);
    CHECK(tree[1].ranks.text() == "0-11");
    CHECK(tree[tree.children(1)[0]].ranks.text() == "0,2,4,6,8,10");
    CHECK_FALSE(all.has_news());
  }
}

TEST_CASE("gathering: what has been passed on is not taken again, and what comes later is") {
  gathering all(1);
  CHECK(all.add(stacks_of(rank_set::parse("1-2").value(), {"main"})));
  CHECK(all.take().agents.text() == "1-2");
  CHECK_FALSE(all.add(stacks_of(rank_set(2), {"main"})));
  CHECK(all.add(stacks_of(rank_set(3), {"main"})));
  const answer later = all.take();
  CHECK(later.agents.text() == "3");
  CHECK(std::get<stacks_part>(*later.what).taken.text() == "3");
  CHECK(all.covered().text() == "1-3");
}

TEST_CASE("gathering: an answer that cannot be taken apart is left out, and that is said") {
  gathering all(1);
  CHECK(all.add(stacks_of(rank_set(5), {"main"})));
  CHECK(all.add(stacks_of(rank_set::parse("4-6").value(), {"main"})));
  const answer whole = all.take();
  CHECK(whole.agents.text() == "5");
  REQUIRE(whole.problems.size() == 1);
  CHECK(whole.problems[0].agent == 4);
  CHECK_THAT(whole.problems[0].why.message, ContainsSubstring("the answer of agents 4,6"));
}

TEST_CASE("gathering: who is lost after its answer is so with that answer, and who answers after it was lost is not") {
  const agent_problem lost{3, error{error_code::process_gone, "its agent has ended"}};
  gathering all(1);
  REQUIRE(all.add(stacks_of(rank_set(3), {"main"})));
  REQUIRE(all.add(answer{1, {}, {lost}, std::nullopt}));
  // It is told at once, while others are waited for.
  REQUIRE(all.take_problems().has_value());
  const answer with_it = all.take();
  CHECK(with_it.agents.contains(3));
  REQUIRE(with_it.problems.size() == 1);
  CHECK(with_it.problems[0].agent == 3);
  CHECK(all.take().problems.empty());

  gathering again(1);
  REQUIRE(again.add(answer{1, {}, {lost}, std::nullopt}));
  REQUIRE(again.take_problems().has_value());
  REQUIRE(again.add(stacks_of(rank_set(3), {"main"})));
  CHECK(again.take().problems.empty());
}

TEST_CASE("gathering: answers to another question are none to this one") {
  gathering all(2);
  CHECK_FALSE(all.add(stacks_of(rank_set(1), {"main"})));
  CHECK(all.covered().empty());
}

TEST_CASE("gathering: queues are in order of ranks, whoever had them") {
  const auto queues_of = [](std::vector<std::uint32_t> ranks) {
    node_queues queues;
    for (const std::uint32_t rank : ranks) {
      queues.ranks.push_back({rank, process_id{rank + 100}, queue_report{}});
      queues.doing.push_back({mpi_call_kind::receive, "MPI_Recv" + std::to_string(rank), false});
      queues.pml.emplace_back("ob1");
    }
    queues.notes = {"the same note"};
    queues.held_for = std::chrono::milliseconds(ranks.size());
    return queues;
  };
  gathering all(1);
  all.add({1, rank_set(1), {}, queues_of({0, 4, 8})});
  all.add({1, rank_set(2), {}, queues_of({1, 5, 7, 9})});
  const answer whole = all.take();
  const auto& queues = std::get<node_queues>(*whole.what);
  std::vector<std::uint32_t> ranks;
  for (std::size_t i = 0; i < queues.ranks.size(); ++i) {
    ranks.push_back(queues.ranks[i].rank);
    CHECK(queues.doing[i].function == "MPI_Recv" + std::to_string(ranks.back()));
  }
  CHECK(ranks == std::vector<std::uint32_t>{0, 1, 4, 5, 7, 8, 9});
  CHECK(queues.notes.size() == 1);
  CHECK(queues.held_for == std::chrono::milliseconds(4));
}

TEST_CASE("gathering: one reason for several ranks is said once") {
  const error why{error_code::permission, "kernel.yama.ptrace_scope is 1"};
  gathering all(1);
  all.add({1, rank_set(1), {}, stacks_part{{}, {}, {{rank_set(3), why}}, {}, {why}}});
  all.add({1, rank_set(2), {}, stacks_part{{}, {}, {{rank_set(4), why}}, {}, {why}}});
  const answer whole = all.take();
  const auto& part = std::get<stacks_part>(*whole.what);
  REQUIRE(part.refused.size() == 1);
  CHECK(part.refused[0].ranks.text() == "3-4");
  CHECK(part.problems.size() == 1);
}
