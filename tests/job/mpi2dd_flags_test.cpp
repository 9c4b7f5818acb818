// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What ranks say of themselves by their flags, and gates: that they are opened, and that nobody waits at one that
// cannot be. The fixture writes down whether a rank was told to wait, and whether it came out.
#include <algorithm>

#include "catch.hpp"
#include "mpi2dd_job.hpp"
#include "mpiacq/ranks/rank_group.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Facts by the names of ranks, "1:0", as they were at the last look.
std::map<std::string, rank_facts> facts_of(const job& subject) {
  std::map<std::string, rank_facts> all;
  const auto table = subject.processes();
  const auto facts = subject.facts_of_ranks();
  REQUIRE(facts.size() == table->size());
  for (std::size_t i = 0; i < facts.size(); ++i) all[table->names().of(entry_index{i})] = facts[i];
  return all;
}

/// Every rank of the job came out of MPI_Init, and was told to wait or not.
void check_all_left_init(const followed_job& job) {
  for (const auto& [key, value] : job.oracle()) {
    if (!key.starts_with("rank.")) continue;
    INFO(key);
    CHECK(job.said(value + ".left_init") == "1");
  }
}

}  // namespace

TEST_CASE("flags of a rank hold for that rank and for the ranks that it spawns") {
  // ACQUIRED_PRE_MAIN and FORCE_TO_MAIN, in all but the starter.
  followed_job job({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--below", "flags,0x28", "spawn=1"});
  std::vector<std::map<std::string, rank_facts>> seen;
  job.at_each_event([&] { seen.push_back(facts_of(job.subject())); });
  job.run();
  CHECK_FALSE(job.facts().acquired_pre_main);
  CHECK_FALSE(job.facts().force_to_main);
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front().at("0") == rank_facts{true, true, false, false});
  CHECK(seen.back().at("1:0") == rank_facts{true, true, false, false});
}

TEST_CASE("a starter's flags hold for all ranks, but PARTIAL_ATTACH_OK only for its own world") {
  followed_job job({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--do", "flags,0x78", "spawn=1"});
  std::map<std::string, rank_facts> seen;
  job.at_each_event([&] { seen = facts_of(job.subject()); });
  job.run();
  CHECK(seen.at("0:0") == rank_facts{true, true, true, true});
  CHECK(seen.at("1:0") == rank_facts{true, true, false, true});
  // The rank that spawned has not the bit: it told its own rank to wait, and that gate was opened.
  CHECK(job.said("world.w0.gates") == "0");
  CHECK(job.said("world." + job.spawned_world("w0", 0, 1) + ".gates") == "1");
  check_all_left_init(job);
  CHECK(job.end() == exit_status{false, 0, false});
}

TEST_CASE("a rank's PARTIAL_ATTACH_OK holds for the ranks that it spawns, and not for itself") {
  followed_job job({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--below", "flags,0x40", "spawn=1"});
  std::map<std::string, rank_facts> seen;
  job.at_each_event([&] { seen = facts_of(job.subject()); });
  job.run();
  CHECK_FALSE(seen.at("0:0").partial_attach_ok);
  CHECK(seen.at("1:0").partial_attach_ok);
  CHECK(job.said("world.w0.gates") == "1");
  const std::string world = job.spawned_world("w0", 0, 1);
  CHECK(job.said("world." + world + ".gates") == "0");
  check_all_left_init(job);
  // Nobody has opened a gate that needed none.
  CHECK(job.said(job.said("rank." + world + ".0.pid") + ".debugger_flags_at_end") == "0x6");
}

TEST_CASE("no rank waits at its gate if some of the gates are on other nodes") {
  followed_job job({"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--far", "1", "--exit", "3", "spawn=2"});
  std::vector<rank_state> at_start;
  job.at_start([&] { at_start = job.subject().rank_states(); });
  job.run();
  CHECK(job.end() == exit_status{false, 3, false});
  CHECK(at_start == std::vector<rank_state>{rank_state::running, rank_state::remote});
  CHECK(job.said("world.w0.gates") == "0");
  CHECK(job.said("world." + job.spawned_world("w0", 0, 1) + ".gates") == "0");
  check_all_left_init(job);
  const auto says = [&](const std::string& what) {
    return std::any_of(job.notices().begin(), job.notices().end(),
                       [&](const std::string& notice) { return notice.find(what) != std::string::npos; });
  };
  CHECK(says("rank 1 is on another node (far.invalid)"));
  CHECK(says("rank 1:1 is on another node (far.invalid)"));
}

TEST_CASE("local ranks wait at their gates, also after a spawn with remote ranks") {
  // Rank 2 is elsewhere: of the first world and the first spawn; the second spawn has but two.
  followed_job job({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--far", "2", "spawn=3", "spawn=2"});
  job.run();
  CHECK(job.said("world.w0.gates") == "1");
  CHECK(job.said("world." + job.spawned_world("w0", 0, 1) + ".gates") == "0");
  CHECK(job.said("world." + job.spawned_world("w0", 0, 2) + ".gates") == "1");
  check_all_left_init(job);
  CHECK(job.end() == exit_status{false, 0, false});
}

TEST_CASE("stacks of followed ranks are taken, and no event is lost") {
  followed_job job({"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "1",
                    "spawn=1{spawn=1}", "1/spawn=1"});
  std::size_t looks = 0;
  job.at_each_event([&] {
    auto ranks = job.subject().ranks();
    REQUIRE(ranks.has_value());
    const group_stacks seen = ranks->stacks();
    rank_set all = seen.taken;
    for (const refused_ranks& refused : seen.refused) {
      // One that has just ended is in the tables still.
      CHECK(refused.why.code == error_code::process_gone);
      all.add(refused.ranks);
    }
    CHECK(all.count() == job.subject().processes()->size());
    CHECK(seen.tree[call_tree::root].ranks == seen.taken);
    ++looks;
  });
  job.run();
  CHECK(looks == job.reported_events().size());
  CHECK(job.reported_events().size() == job.written_events().size());
  CHECK(job.count(mpi2dd::debug_state::spawn) == 3);
  CHECK(job.end() == exit_status{false, 0, false});
}

TEST_CASE("a rank is lent to another tracer, taken back, and followed again") {
  const std::string port = "lent." + std::to_string(::getpid());
  followed_job job(
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "accept=" + port, "1/connect=" + port, "1/spawn=1"});
  std::size_t lent = 0;
  job.after_each_resume([&] {
    const process_id rank{std::atoi(job.said("rank.w0.0.pid").c_str())};
    if (lent != 0 || process_state(static_cast<pid_t>(rank.value())) != 'S') return;
    const auto given = job.subject().lend(rank);
    REQUIRE(given.has_value());
    if (!*given) return;  // it stands at an event
    ++lent;
    // It is nobody's now.
    const auto other = tracer::create();
    REQUIRE(other.has_value());
    CHECK((*other)->attach(rank).has_value());
    CHECK((*other)->detach(rank).has_value());
    job.subject().take_back(rank);
    CHECK((*other)->attach(rank).error().code == error_code::busy);
  });
  job.run();
  CHECK(lent == 1);
  CHECK(job.end() == exit_status{false, 0, false});
  CHECK(job.count(mpi2dd::debug_state::spawn) == 1);
  check_all_left_init(job);
  // Its own end found it followed.
  CHECK(job.said(job.said("rank.w0.0.pid") + ".debugger_flags_at_end") == "0x7");
}
