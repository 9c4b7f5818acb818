// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A group of ranks over made-up backends: what is asked of them, and how their answers become one.
#include "catch.hpp"
#include "fake_ranks.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::string text_of(std::span<const rank_process> ranks) {
  std::string text;
  for (const rank_process& rank : ranks) text += std::to_string(rank.entry.value()) + " ";
  return text;
}

group_queues reports_of(const std::vector<std::uint32_t>& ranks) {
  group_queues queues;
  for (const std::uint32_t rank : ranks)
    queues.ranks.push_back({entry_index{rank}, process_id{1000 + rank}, queue_report{}});
  return queues;
}

}  // namespace

TEST_CASE("rank group: the ranks of all backends are in order of entries, their nodes by their lowest entries") {
  const two_nodes job;
  const rank_group group = job.group();
  CHECK(text_of(group.ranks()) == "0 1 2 3 ");
  const auto nodes = group.nodes();
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].host == "here");
  CHECK(nodes[1].host == "there");
  CHECK(nodes[1].ranks.text() == "1,3");
}

TEST_CASE("rank group: every backend is asked before the first answer is collected") {
  const two_nodes job;
  rank_group group = job.group();
  job.here->answer = [&](const rank_question&, const answer_terms&) {
    CHECK(job.there->asked.size() == 1);
    CHECK(job.there->collected.empty());
    return hold_part{rank_set::parse("0,2").value(), {}};
  };
  job.there->answer = [](const rank_question&, const answer_terms&) {
    return hold_part{rank_set(1),
                     {{entry_index{3}, process_id{1003}, hold_state::busy, error{error_code::busy, "gdb has it"}}}};
  };
  const auto held = group.hold();
  REQUIRE(held.size() == 4);
  CHECK(held[0].state == hold_state::held);
  CHECK(held[1].state == hold_state::held);
  CHECK(held[2].state == hold_state::held);
  CHECK(held[3].state == hold_state::busy);
  CHECK(held[3].pid == process_id{1003});
  CHECK(held[3].why->message == "gdb has it");
}

TEST_CASE("rank group: a rank that its backend says nothing of is refused with the backend's reason") {
  const two_nodes job;
  rank_group group = job.group();
  job.here->answer = [](const rank_question& what, const answer_terms&) -> rank_answer {
    if (std::holds_alternative<ask_hold>(what)) return hold_part{rank_set::parse("0,2").value(), {}};
    if (std::holds_alternative<ask_queues>(what)) return reports_of({0, 2});
    if (std::holds_alternative<ask_registers>(what)) return registers_part{};
    if (std::holds_alternative<ask_gates>(what)) return opened_gates{rank_set(0), rank_set(2), {}};
    return group_stacks{{}, rank_set::parse("0,2").value(), {}, {}, {}};
  };
  const auto held = group.hold();
  CHECK(held[1].state == hold_state::failed);
  CHECK(held[3].why->message == "its node is lost");
  const group_stacks stacks = group.stacks();
  CHECK(stacks.taken.text() == "0,2");
  REQUIRE(stacks.refused.size() == 1);
  CHECK(stacks.refused[0].ranks.text() == "1,3");
  const group_queues queues = group.queues();
  REQUIRE(queues.ranks.size() == 4);
  CHECK(queues.ranks[0].report.has_value());
  REQUIRE_FALSE(queues.ranks[1].report.has_value());
  CHECK(queues.ranks[1].report.error().message == "its node is lost");
  const opened_gates gates = group.open_gates({});
  CHECK(gates.without.text() == "2");
  REQUIRE(gates.refused.size() == 1);
  CHECK(gates.refused[0].ranks.text() == "1,3");
  // Nothing holds what cannot be reached: its agent's tracer has released it.
  for (const auto& released : group.release()) CHECK(released.has_value());
  const auto registers = group.registers();
  REQUIRE(registers.size() == 4);
  CHECK_FALSE(registers[1].has_value());
}

TEST_CASE("rank group: a look at some ranks says nothing of the others") {
  const two_nodes job;
  rank_group group = job.group();
  rank_queue_options how;
  how.ranks = rank_selection::parse("1-2").value();
  job.there->answer = [](const rank_question&, const answer_terms&) { return reports_of({1}); };
  const group_queues queues = group.queues(how);
  REQUIRE(queues.ranks.size() == 2);
  CHECK(queues.ranks[0].report.has_value());
  CHECK_FALSE(queues.ranks[1].report.has_value());
  CHECK(std::get<ask_queues>(job.here->asked.back()).how.ranks.text() == "1-2");
}

TEST_CASE("rank group: the calls of ranks are in order of entries, and arguments are asked for everywhere") {
  const two_nodes job;
  rank_group group = job.group();
  const auto stacks_of = [](std::uint32_t first, std::uint32_t second) {
    group_stacks seen;
    for (const std::uint32_t rank : {first, second}) {
      seen.taken.add(entry_index{rank});
      seen.calls.push_back({entry_index{rank}, activity_in(rank % 2 == 0 ? "MPI_Recv" : "MPI_Send")});
    }
    return seen;
  };
  job.here->answer = [&](const rank_question&, const answer_terms&) { return stacks_of(0, 2); };
  job.there->answer = [&](const rank_question&, const answer_terms&) { return stacks_of(1, 3); };
  stack_options how;
  how.arguments = true;
  const group_stacks seen = group.stacks(how);
  REQUIRE(seen.calls.size() == 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(seen.calls[rank].entry == entry_index{rank});
    CHECK(seen.calls[rank].doing.function == (rank % 2 == 0 ? "MPI_Recv" : "MPI_Send"));
  }
  CHECK(std::get<ask_stacks>(job.there->asked.back()).how.arguments);
}

TEST_CASE("rank group: stacks of ranks that another tool holds for a moment are taken, too") {
  const two_nodes job;
  rank_group group = job.group();
  const error busy{error_code::busy, "another tool holds it"};
  job.here->answer = [&](const rank_question&, const answer_terms&) -> rank_answer {
    const bool is_first = job.here->asked.size() == 1;
    group_stacks seen{{}, rank_set(is_first ? 0 : 2), {}, std::chrono::milliseconds(1), {busy}};
    if (is_first) seen.refused.push_back({rank_set(2), busy});
    return seen;
  };
  job.there->answer = [&](const rank_question&, const answer_terms&) -> rank_answer {
    if (job.there->asked.size() > 1) return group_stacks{};
    return group_stacks{{}, rank_set(3), {{rank_set(1), {error_code::permission, "no"}}}, {}, {}};
  };
  const group_stacks stacks = group.stacks();
  CHECK(stacks.taken.text() == "0,2-3");
  REQUIRE(stacks.refused.size() == 1);
  CHECK(stacks.refused[0].ranks.text() == "1");
  CHECK(stacks.held_for == std::chrono::milliseconds(2));
  CHECK(stacks.problems.size() == 1);
  REQUIRE(job.here->asked.size() == 2);
  CHECK(std::get<ask_stacks>(job.here->asked.back()).how.ranks.text() == "2");
}

TEST_CASE("rank group: stacks of a rank that stays in another tool are refused, and a time limit ends the tries") {
  const bool is_limited = GENERATE(false, true);
  auto script = std::make_shared<fake_script>();
  script->answer = [](const rank_question&, const answer_terms&) -> rank_answer {
    return group_stacks{{}, {}, {{rank_set(0), {error_code::busy, "another tool holds it"}}}, {}, {}};
  };
  rank_options options;
  if (is_limited) options.until = clock::now();
  std::vector<std::unique_ptr<rank_backend>> one;
  one.push_back(std::make_unique<fake_ranks>(std::vector<std::uint32_t>{0}, true, script));
  rank_group group = group_of(std::move(one), options);
  const group_stacks stacks = group.stacks();
  REQUIRE(stacks.refused.size() == 1);
  CHECK(stacks.refused[0].why.code == error_code::busy);
  CHECK(script->asked.size() == (is_limited ? 1 : 10));
}

TEST_CASE("rank group: a rank that a signal has stopped is not tried again, and stays refused") {
  const two_nodes job;
  rank_group group = job.group();
  const error stopped{error_code::busy, "a signal has stopped it"}, busy{error_code::busy, "another tool holds it"};
  job.here->answer = [&](const rank_question&, const answer_terms&) -> rank_answer {
    group_stacks seen;
    if (job.here->asked.size() > 1) {
      seen.taken = rank_set(2);
      return seen;
    }
    seen.refused = {{rank_set(0), stopped}, {rank_set(2), busy}};
    seen.stopped = rank_set(0);
    return seen;
  };
  job.there->answer = [](const rank_question& what, const answer_terms&) -> rank_answer {
    group_stacks seen;
    if (std::get<ask_stacks>(what).how.ranks.contains(entry_index{1})) seen.taken = rank_set::parse("1,3").value();
    for (const std::uint32_t rank : {1U, 3U}) {
      if (!seen.taken.empty()) seen.positions.push_back({.entry = entry_index{rank}, .activations = {rank}});
    }
    return seen;
  };
  stack_options how;
  how.leave_stopped = true;
  how.positions = true;
  const group_stacks seen = group.stacks(how);
  CHECK(seen.taken.text() == "1-3");
  CHECK(seen.stopped.text() == "0");
  REQUIRE(seen.refused.size() == 1);
  CHECK(seen.refused[0].ranks.text() == "0");
  REQUIRE(job.here->asked.size() == 2);
  CHECK(std::get<ask_stacks>(job.here->asked.back()).how.ranks.text() == "2");
  REQUIRE(seen.positions.size() == 2);
  CHECK(seen.positions[1].activations.front() == 3);
}

TEST_CASE("rank group: progress counts the ranks of all backends") {
  const two_nodes job;
  rank_group group = job.group();
  const auto reads_two = [](std::vector<std::uint32_t> ranks) {
    return [ranks](const rank_question&, const answer_terms& terms) {
      terms.progress(1, 2);
      terms.progress(2, 2);
      return reports_of(ranks);
    };
  };
  job.here->answer = reads_two({0, 2});
  job.there->answer = reads_two({1, 3});
  std::string told;
  rank_queue_options how;
  how.progress = [&](std::size_t read, std::size_t all) {
    told += std::to_string(read) + "/" + std::to_string(all) + " ";
  };
  CHECK(group.queues(how).ranks.size() == 4);
  CHECK(told == "1/4 2/4 3/4 4/4 ");
}

TEST_CASE("rank group: the group's debug files and its time limit reach every backend") {
  auto script = std::make_shared<fake_script>();
  int stop = -1;
  script->answer = [&](const rank_question& what, const answer_terms& terms) {
    stop = terms.stop;
    return refusal_of(std::span<const refused_process>(), what);
  };
  rank_options options;
  options.debug_files.folders = {"/opt/debug"};
  options.until = in(std::chrono::hours(1));
  std::vector<std::unique_ptr<rank_backend>> one;
  one.push_back(std::make_unique<fake_ranks>(std::vector<std::uint32_t>{0}, true, script));
  rank_group group = group_of(std::move(one), options);
  (void)group.stacks();
  CHECK(std::get<ask_stacks>(script->asked.back()).debug_files.folders == options.debug_files.folders);
  CHECK_FALSE(std::get<ask_stacks>(script->asked.back()).debug_files.debuginfod);
  (void)group.queues();
  CHECK(std::get<ask_queues>(script->asked.back()).how.types.debug_files.folders == options.debug_files.folders);
  CHECK(stop >= 0);
  group.keep_held();
  CHECK(script->kept_held == 1);
}
