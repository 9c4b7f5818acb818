// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Merging the parts of an answer, in any order and with repetitions.
#include "tree/reducer.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "catch.hpp"
#include "sample_messages.hpp"
#include "tree/queue_budget.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;

namespace {

answer stacks_of(const rank_set& agents, const std::vector<std::string>& calls) {
  group_stacks part;
  for (const auto& range : agents.ranges()) {
    for (std::uint32_t rank = range.first; rank <= range.last; ++rank) {
      test::add_stack(part.tree, rank, calls);
      part.taken.add(rank);
    }
  }
  return {1, agents, {}, std::move(part)};
}

}  // namespace

TEST_CASE("reducer: parts give the same answer in any order, and none counts twice") {
  std::vector<answer> parts;
  for (std::uint32_t agent = 0; agent < 12; ++agent)
    parts.push_back(stacks_of(rank_set(agent), {"main", agent % 2 == 0 ? "even" : "odd"}));
  std::mt19937 chance(1);
  for (int time = 0; time < 20; ++time) {
    std::shuffle(parts.begin(), parts.end(), chance);
    reducer all(1);
    for (const answer& part : parts) CHECK(all.add(answer(part)));
    for (const answer& part : parts) CHECK_FALSE(all.add(answer(part)));
    const answer whole = all.take();
    CHECK(whole.agents.text() == "0-11");
    const auto& tree = std::get<group_stacks>(*whole.what).tree;
    REQUIRE(tree.size() == 4);
    CHECK(tree[call_tree::root].stacks == 12);
    CHECK(tree[1].ranks.text() == "0-11");
    CHECK(tree[tree.children(1)[0]].ranks.text() == "0,2,4,6,8,10");
    CHECK_FALSE(all.has_news());
  }
}

TEST_CASE("reducer: a part that was taken does not count again, and a later part does") {
  reducer all(1);
  CHECK(all.add(stacks_of(rank_set::parse("1-2").value(), {"main"})));
  CHECK(all.take().agents.text() == "1-2");
  CHECK_FALSE(all.add(stacks_of(rank_set(2), {"main"})));
  CHECK(all.add(stacks_of(rank_set(3), {"main"})));
  const answer later = all.take();
  CHECK(later.agents.text() == "3");
  CHECK(std::get<group_stacks>(*later.what).taken.text() == "3");
  CHECK(all.covered().text() == "1-3");
}

TEST_CASE("reducer: a part of which only some agents are new is left out and reported") {
  reducer all(1);
  CHECK(all.add(stacks_of(rank_set(5), {"main"})));
  CHECK(all.add(stacks_of(rank_set::parse("4-6").value(), {"main"})));
  const answer whole = all.take();
  CHECK(whole.agents.text() == "5");
  REQUIRE(whole.problems.size() == 1);
  CHECK(whole.problems[0].agent == 4);
  CHECK_THAT(whole.problems[0].why.message, ContainsSubstring("the answer of agents 4,6"));
}

TEST_CASE(
    "reducer: an agent lost after its answer is reported with it, and an agent that answers after a loss is not lost") {
  const agent_problem lost{3, error{error_code::process_gone, "its agent has ended"}};
  reducer all(1);
  REQUIRE(all.add(stacks_of(rank_set(3), {"main"})));
  REQUIRE(all.add(answer{1, {}, {lost}, std::nullopt}));
  // The loss is reported at once, while other agents have yet to answer.
  REQUIRE(all.take_problems().has_value());
  const answer with_it = all.take();
  CHECK(with_it.agents.contains(3));
  REQUIRE(with_it.problems.size() == 1);
  CHECK(with_it.problems[0].agent == 3);
  CHECK(all.take().problems.empty());

  reducer again(1);
  REQUIRE(again.add(answer{1, {}, {lost}, std::nullopt}));
  REQUIRE(again.take_problems().has_value());
  REQUIRE(again.add(stacks_of(rank_set(3), {"main"})));
  CHECK(again.take().problems.empty());
}

TEST_CASE("reducer: answers to another question are ignored") {
  reducer all(2);
  CHECK_FALSE(all.add(stacks_of(rank_set(1), {"main"})));
  CHECK(all.covered().empty());
}

TEST_CASE("reducer: queues are in the order of ranks, whichever agent sent them") {
  const auto queues_of = [](std::vector<std::uint32_t> ranks) {
    group_queues queues;
    for (const std::uint32_t rank : ranks) {
      queues.ranks.push_back({entry_index{rank},
                              process_id{rank + 100},
                              queue_report{},
                              {mpi_call_kind::receive, "MPI_Recv" + std::to_string(rank), false},
                              "ob1"});
    }
    queues.notes = {"the same note"};
    queues.held_for = std::chrono::milliseconds(ranks.size());
    return queues;
  };
  reducer all(1);
  all.add({1, rank_set(1), {}, queues_of({0, 4, 8})});
  all.add({1, rank_set(2), {}, queues_of({1, 5, 7, 9})});
  const answer whole = all.take();
  const auto& queues = std::get<group_queues>(*whole.what);
  std::vector<std::uint32_t> ranks;
  for (const rank_report& rank : queues.ranks) {
    ranks.push_back(rank.entry.value());
    CHECK(rank.doing.function == "MPI_Recv" + std::to_string(rank.entry.value()));
  }
  CHECK(ranks == std::vector<std::uint32_t>{0, 1, 4, 5, 7, 8, 9});
  CHECK(queues.notes.size() == 1);
  CHECK(queues.held_for == std::chrono::milliseconds(4));
}

TEST_CASE("reducer: a reason that several ranks share is kept once") {
  const error why{error_code::permission, "kernel.yama.ptrace_scope is 1"};
  reducer all(1);
  all.add({1, rank_set(1), {}, group_stacks{{}, {}, {{rank_set(3), why}}, {}, {why}}});
  all.add({1, rank_set(2), {}, group_stacks{{}, {}, {{rank_set(4), why}}, {}, {why}}});
  const answer whole = all.take();
  const auto& part = std::get<group_stacks>(*whole.what);
  REQUIRE(part.refused.size() == 1);
  CHECK(part.refused[0].ranks.text() == "3-4");
  CHECK(part.problems.size() == 1);
}

namespace {

group_members counted_from(std::int64_t first, std::size_t size) {
  std::vector<std::int64_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

queue_communicator communicator(std::uint64_t id, const group_members& group) {
  queue_communicator one;
  one.id = id;
  one.size = static_cast<std::int64_t>(group.size());
  one.group = group;
  for (queue_listing& queue : one.queues) queue.known = queue_knowledge::complete;
  return one;
}

void add_rank(group_queues& queues, std::uint32_t rank, queue_report report) {
  queues.ranks.push_back({entry_index{rank}, process_id{1000 + rank}, std::move(report)});
}

/// The ranks of one agent in a job of `world` ranks, each with three communicators.
group_queues usual_ranks(std::uint32_t first, std::uint32_t count, std::size_t world) {
  const group_members all = counted_from(0, world);
  group_queues queues;
  for (std::uint32_t rank = first; rank < first + count; ++rank) {
    queue_report report;
    report.communicators = {communicator(0, all), communicator(1, {std::int64_t{rank}}),
                            communicator(2, counted_from(rank / 8 * 8, 8))};
    report.communicators[0].of(queue_class::receives).operations.resize(2);
    add_rank(queues, rank, std::move(report));
  }
  return queues;
}

/// A rank with as many operations as one report may hold, and one more group that no other rank has.
queue_report full_report(std::uint32_t rank) {
  queue_report report;
  report.communicators = {communicator(0, counted_from(0, 4)), communicator(1, counted_from(rank, 100'000))};
  auto& operations = report.communicators[0].of(queue_class::unexpected).operations;
  operations.resize(most_report_bytes * 9 / 10 / bytes_held(queue_operation()));
  return report;
}

group_queues read_again(const group_queues& queues) {
  const auto bytes = encode(answer{1, rank_set(1), {}, queues});
  REQUIRE(bytes.size() <= most_bytes);
  auto back = decode(bytes);
  INFO((back ? "" : back.error().message));
  REQUIRE(back.has_value());
  return std::get<group_queues>(std::move(*std::get<answer>(*back).what));
}

bool is_shortened(const rank_report& rank) {
  return rank.report && rank.report->problems.size() == 1 && rank.report->problems[0].code == error_code::limit &&
         rank.report->problems[0].message.find("more than there is room for") != std::string::npos;
}

}  // namespace

TEST_CASE("reducer: a job of 20,000 ranks keeps all reports, and each group once") {
  constexpr std::uint32_t ranks = 20'000, of_one_agent = 2'000;
  answer_body all = group_queues{};
  for (std::uint32_t first = 0; first < ranks; first += of_one_agent)
    merge(all, read_again(usual_ranks(first, of_one_agent, ranks)));
  // Encoded and decoded, as between an agent and its parent.
  const group_queues seen = read_again(std::get<group_queues>(all));
  REQUIRE(seen.ranks.size() == ranks);
  const group_members world = counted_from(0, ranks);
  std::set<const void*> lists;
  std::size_t whole = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    REQUIRE(seen.ranks[rank].report.has_value());
    const queue_report& report = *seen.ranks[rank].report;
    REQUIRE(report.communicators.size() == 3);
    for (const queue_communicator& one : report.communicators) {
      REQUIRE(one.group.has_value());
      lists.insert(one.group->list());
    }
    whole += seen.ranks[rank].entry == entry_index{rank} && report.problems.empty() &&
             report.communicators[1].group == group_members{std::int64_t{rank}} &&
             report.communicators[2].group == counted_from(rank / 8 * 8, 8) &&
             report.communicators[0].of(queue_class::receives).operations.size() == 2;
  }
  CHECK(whole == ranks);
  CHECK(seen.ranks[0].report->communicators[0].group == world);
  CHECK(seen.ranks[ranks - 1].report->communicators[0].group == world);
  // The world, one group for each rank, and the groups of eight.
  CHECK(lists.size() == 1 + ranks + ranks / 8);
}

TEST_CASE("reducer: if reports are too large together, the largest are shortened, and only these have a problem") {
  constexpr std::uint32_t nodes = 12;
  answer_body all = group_queues{};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    group_queues part = usual_ranks(10 * node, 9, 10 * nodes);
    add_rank(part, 10 * node + 9, full_report(10 * node + 9));
    merge(all, std::move(part));
    auto& merged = std::get<group_queues>(all);
    REQUIRE(keep_within(merged, UINT64_MAX) <= most_bytes_of(merged.ranks.size()));
  }
  const auto& seen = std::get<group_queues>(all);
  REQUIRE(seen.ranks.size() == 10 * nodes);
  std::size_t shortened = 0;
  for (const rank_report& rank : seen.ranks) {
    CAPTURE(rank.entry.value());
    REQUIRE(rank.report.has_value());
    if (is_shortened(rank)) ++shortened;
    if (rank.entry.value() % 10 != 9) CHECK_FALSE(is_shortened(rank));
    if (rank.entry.value() % 10 != 9) CHECK(rank.report->communicators.size() == 3);
    if (rank.entry.value() % 10 == 9)
      CHECK(rank.report->communicators.at(0).of(queue_class::unexpected).operations.size() > 1000);
  }
  CHECK(shortened >= 9);  // the last ones may fit
}

TEST_CASE("reducer: message queues that do not fit into a message are sent shortened, also in several parts") {
  sent_answers sent;
  std::vector<group_queues> came;
  const auto send = [&](const answer& part) {
    const auto bytes = encode(part);
    if (bytes.size() > most_bytes) return false;
    came.push_back(std::get<group_queues>(std::move(*std::get<answer>(decode(bytes).value()).what)));
    return true;
  };
  std::uint64_t kept = 0;
  std::vector<answer> said;
  for (std::uint32_t part = 0; part < 3; ++part) {
    group_queues queues = usual_ranks(100 * part, 10, 1000);
    for (std::uint32_t rank = 100 * part + 50; rank < 100 * part + 56; ++rank)
      add_rank(queues, rank, full_report(rank));
    said.push_back({1, rank_set(part), {}, std::move(queues)});
    REQUIRE(sent.send(said.back(), send));
    kept += keep_within(std::get<group_queues>(*said.back().what), UINT64_MAX);
  }
  CHECK(kept <= most_bytes_of(3 * 16));
  REQUIRE(came.size() == 3);
  for (const group_queues& part : came) {
    REQUIRE(part.ranks.size() == 16);
    for (const rank_report& rank : part.ranks) {
      CAPTURE(rank.entry.value());
      CHECK(is_shortened(rank) == (rank.entry.value() % 100 >= 50));
      REQUIRE(rank.report.has_value());
      CHECK_FALSE(rank.report->communicators.empty());
      if (rank.entry.value() % 100 < 50) CHECK(rank.report->communicators.size() == 3);
    }
  }
  // An answer that cannot be sent for another reason is not shortened forever.
  answer small{1, rank_set(7), {}, usual_ranks(900, 2, 1000)};
  CHECK_FALSE(sent.send(small, [](const answer&) { return false; }));
}
