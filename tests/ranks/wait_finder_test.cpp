// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The second look that confirms a deadlock, over made-up ranks.
#include <array>

#include <unistd.h>

#include "../waits/made_calls.hpp"
#include "../waits/made_reports.hpp"
#include "catch.hpp"
#include "descriptors/unique_fd.hpp"
#include "fake_ranks.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Two ranks that each wait in a receive for the other.
made_job crossed_receives() {
  made_job job(2);
  job.receive(0, 1, 7).receive(1, 0, 7).in(0, "MPI_Recv").in(1, "MPI_Recv");
  return job;
}

call_tree tree_in(const std::vector<std::string>& functions, std::uint32_t line) {
  call_tree tree;
  for (std::uint32_t rank = 0; rank < functions.size(); ++rank) {
    thread_stack stack;
    for (const std::string& call : {functions[rank], std::string("main")}) {
      auto place = std::make_shared<const code_place>(code_place{call, {}, call == "main" ? line : 0, "/bin/app", {}});
      stack.frames.push_back({{}, std::move(place)});
    }
    tree.add(entry_index{rank}, stack);
  }
  return tree;
}

/// Ranks whose queues and calls a test changes between two looks.
struct scripted_ranks {
  std::shared_ptr<fake_script> script = std::make_shared<fake_script>();
  std::vector<std::vector<rank_report>> looks;  ///< the last one stays
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> functions;  ///< by rank
  std::uint32_t line = 10;             ///< from which they are called
  std::size_t queue_looks = 0;
  std::size_t samples = 0;
  rank_set starved;  ///< have no processor, if a look lets the ranks run first

  explicit scripted_ranks(std::vector<std::uint32_t> ranks = {0, 1})
      : numbers(std::move(ranks)), functions(numbers.size(), "MPI_Recv") {
    script->answer = [this](const rank_question& what, const answer_terms&) -> rank_answer {
      if (const auto* how = std::get_if<ask_stacks>(&what)) {
        ++samples;
        rank_set taken;
        for (const std::uint32_t rank : numbers) taken.add(rank);
        group_stacks seen{tree_in(functions, line), taken, {}, {}, {}};
        if (how->how.run_first > clock::duration::zero()) seen.not_run = starved;
        return seen;
      }
      group_queues seen;
      seen.ranks = looks[std::min(queue_looks++, looks.size() - 1)];
      seen.held_for = std::chrono::milliseconds(1);
      seen.notes = {"look " + std::to_string(queue_looks)};
      return seen;
    };
  }
  [[nodiscard]] rank_group group(const rank_options& options = {}) const {
    std::vector<std::unique_ptr<rank_backend>> one;
    one.push_back(std::make_unique<fake_ranks>(numbers, true, script));
    return group_of(std::move(one), options);
  }
};

}  // namespace

TEST_CASE("waits: a deadlock that is the same at two looks is certain") {
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(found->looks == 2);
  CHECK(ranks.samples == 8);
  REQUIRE(found->deadlocks.size() == 1);
  CHECK(found->deadlocks[0].certain);
  CHECK(found->deadlocks[0].sentence() == "0 -> 1 -> 0 wait for each other");
  CHECK(found->seen.notes == std::vector<std::string>{"look 1", "look 2"});
  CHECK(found->held_for == std::chrono::milliseconds(2));
  CHECK_FALSE(found->interrupted);
}

TEST_CASE("waits: what rests on ranks that had no processor between two looks is not certain") {
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  ranks.starved = rank_set(1U);
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  REQUIRE(found->deadlocks.size() == 1);
  CHECK_FALSE(found->deadlocks[0].certain);
  REQUIRE_FALSE(found->doubts.empty());
  CHECK(found->doubts.back() == "rank 1: did not run between two looks, so that a message may be there");

  SECTION("others do not matter") {
    ranks.starved = rank_set(7U);
    ranks.queue_looks = 0;
    const auto again = ranks.group().waits();
    REQUIRE(again.has_value());
    CHECK(again->deadlocks.at(0).certain);
    CHECK(again->doubts.empty());
  }
}

TEST_CASE("waits: a deadlock that the second look does not show is gone") {
  scripted_ranks ranks;
  made_job later(2);
  later.in(0, "MPI_Recv").receive(0, 1, 7);
  ranks.looks = {crossed_receives().ranks(), later.ranks()};
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(found->looks == 2);
  CHECK(found->deadlocks.empty());
}

TEST_CASE("waits: ranks that move between the looks are in no deadlock, and the doubts name the movement") {
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  ranks.script->answer = [&, before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    if (ranks.samples == 3) ranks.functions = {"MPI_Send", "MPI_Send"};
    return before(what, terms);
  };
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(ranks.samples == 4);
  CHECK(found->deadlocks.empty());
  CHECK(says(found->doubts, "have moved between two looks"));
}

TEST_CASE("waits: ranks that move take nothing from the deadlock of others") {
  scripted_ranks ranks({0, 1, 2, 3});
  made_job job(4);
  for (const std::uint32_t rank : {0U, 1U, 2U, 3U}) job.receive(rank, rank ^ 1U, 7).in(rank, "MPI_Recv");
  ranks.looks = {job.ranks()};
  ranks.script->answer = [&, before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    if (ranks.samples == 3) ranks.functions[2] = ranks.functions[3] = "MPI_Send";
    return before(what, terms);
  };
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(ranks.samples == 8);
  REQUIRE(found->deadlocks.size() == 1);
  CHECK(found->deadlocks[0].certain);
  CHECK(found->deadlocks[0].sentence() == "0 -> 1 -> 0 wait for each other");
  CHECK(says(found->doubts, "have moved between two looks"));
}

TEST_CASE("waits: a rank that makes the same call from another line has moved") {
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  ranks.script->answer = [&, before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    ranks.line = static_cast<std::uint32_t>(10 + ranks.samples / 4);
    return before(what, terms);
  };
  CHECK(ranks.group().waits()->deadlocks.empty());
}

TEST_CASE("waits: calls that differ are reported if two looks show the same and no rank has moved") {
  scripted_ranks ranks;
  made_job job(2);
  for (const std::uint32_t rank : {0U, 1U}) {
    job.ranks()[rank].doing =
        call("MPI_Bcast", {number(mpi_role::count, rank + 1), number(mpi_role::datatype, 1, "MPI_INT"), on_world()});
  }
  ranks.looks = {job.ranks()};
  const bool moves = GENERATE(false, true);
  ranks.script->answer = [&, before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    if (moves && ranks.samples == 3) ranks.functions[1] = "MPI_Send";
    return before(what, terms);
  };
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(found->looks == 2);
  CHECK(found->mismatches.size() == (moves ? 0 : 1));
}

TEST_CASE("waits: without a deadlock there is one look, and no second one where none is wanted") {
  scripted_ranks ranks;
  SECTION("no deadlock") {
    ranks.looks = {made_job(2).ranks()};
    CHECK(ranks.group().waits()->looks == 1);
  }
  SECTION("not wanted") {
    ranks.looks = {crossed_receives().ranks()};
    const auto found = ranks.group().waits({{}, false, {}});
    REQUIRE(found.has_value());
    CHECK(found->looks == 1);
    CHECK(found->deadlocks.size() == 1);
  }
  CHECK(ranks.samples == 0);
}

TEST_CASE("waits: a caller who cancels before the second look gets a deadlock that is not certain") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const base::unique_fd read_end(ends[0]), write_end(ends[1]);
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  ranks.script->answer = [&, before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    REQUIRE(::write(write_end.get(), "x", 1) == 1);
    return before(what, terms);
  };
  rank_options options;
  options.until.stop = read_end.get();
  const auto found = ranks.group(options).waits();
  REQUIRE(found.has_value());
  CHECK(found->looks == 1);
  CHECK(found->interrupted);
  REQUIRE(found->deadlocks.size() == 1);
  CHECK_FALSE(found->deadlocks[0].certain);
  CHECK(says(found->doubts, "interrupted before a second look"));
}

TEST_CASE("waits: a rank that another tool holds for a moment is tried again alone") {
  scripted_ranks ranks;
  auto busy = made_job(2).ranks();
  busy[1].report = fail(error_code::busy, "gdb has it");
  ranks.looks = {busy, busy, {made_job(2).ranks()[1]}};
  const auto found = ranks.group().waits();
  REQUIRE(found.has_value());
  CHECK(ranks.queue_looks == 3);
  CHECK(std::get<ask_queues>(ranks.script->asked.back()).how.ranks.text() == "1");
  REQUIRE(found->seen.ranks.size() == 2);
  CHECK(found->seen.ranks[1].report.has_value());
}

TEST_CASE("waits: progress says how many looks are complete") {
  scripted_ranks ranks;
  ranks.looks = {crossed_receives().ranks()};
  ranks.script->answer = [before = ranks.script->answer](const rank_question& what, const answer_terms& terms) {
    if (terms.progress) terms.progress(2, 2);
    return before(what, terms);
  };
  std::string told;
  (void)ranks.group().waits({{}, true, [&](std::size_t read, std::size_t all, std::size_t looks) {
                               told += std::to_string(read) + "/" + std::to_string(all) + " after " +
                                       std::to_string(looks) + "; ";
                             }});
  CHECK(told == "2/2 after 0; 2/2 after 1; ");
}
