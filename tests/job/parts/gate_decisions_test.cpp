// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/gate_decisions.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using mpi2dd::mpi_flag;
constexpr process_id starter{10};
constexpr std::string_view here = "here";

mpi2dd::flag_set<mpi_flag> just(mpi_flag flag) {
  return mpi2dd::flag_set<mpi_flag>{}.with(flag);
}

struct row {
  std::string_view host;
  std::int32_t pid;
  std::uint32_t world = 0;
  std::int32_t rank = 0;
};

process_table table_of(const std::vector<row>& rows, std::size_t worlds = 1) {
  std::vector<table_row> all;
  for (const row& one : rows) all.push_back({one.host, "/app", process_id{one.pid}, one.world, rank_number{one.rank}});
  std::vector<job_world> known(worlds);
  for (std::size_t i = 0; i < worlds; ++i) known[i].id = "w" + std::to_string(i);
  return make_process_table(all, std::move(known), {});
}

gate_decisions::decision decide(gate_decisions& decisions, const process_table& table, process_id parent,
                                rank_origins& origins) {
  return decisions.decide(
      table, [&](entry_index entry) { return table.host_name(entry) == here; }, parent, starter, origins);
}

}  // namespace

TEST_CASE("gate decisions: a rank waits unless the process that started it has PARTIAL_ATTACH_OK") {
  fake_origins origins;
  const process_id rank{21}, parent{20};
  CHECK(waits_at_gate(origins, starter, here, rank));
  origins.flags[starter] = just(mpi_flag::partial_attach_ok);
  CHECK_FALSE(waits_at_gate(origins, starter, here, rank));
  // A spawned rank is its parent's, not the starter's.
  origins.spawned_by[rank] = parent;
  CHECK(waits_at_gate(origins, starter, here, rank));
  origins.flags[parent] = just(mpi_flag::partial_attach_ok);
  CHECK_FALSE(waits_at_gate(origins, starter, here, rank));
}

TEST_CASE("gate decisions: flags about a rank come from itself where it is local, from its parent, and the starter") {
  fake_origins origins;
  const process_id rank{21}, parent{20};
  origins.spawned_by[rank] = parent;
  origins.flags[rank] = just(mpi_flag::force_to_main);
  origins.flags[parent] = just(mpi_flag::acquired_pre_main);
  origins.flags[starter] = just(mpi_flag::ignore_queue);
  const auto local = flags_about(origins, starter, here, rank, true);
  for (const mpi_flag flag : {mpi_flag::force_to_main, mpi_flag::acquired_pre_main, mpi_flag::ignore_queue}) {
    CHECK(local.has(flag));
  }
  CHECK_FALSE(flags_about(origins, starter, here, rank, false).has(mpi_flag::force_to_main));
}

TEST_CASE("gate decisions: ranks that are all local wait") {
  fake_origins origins;
  gate_decisions decisions(false);
  const auto decided = decide(decisions, table_of({{here, 21, 0, 0}, {here, 22, 0, 1}}), starter, origins);
  CHECK(decided.ranks_wait);
  CHECK_FALSE(decided.notice.has_value());
}

TEST_CASE("gate decisions: no rank waits where the gate of one is on another node, and a notice says which") {
  fake_origins origins;
  gate_decisions decisions(false);
  const auto decided =
      decide(decisions, table_of({{here, 21, 0, 0}, {"n1", 21, 0, 1}, {"n2", 22, 0, 2}}), starter, origins);
  CHECK_FALSE(decided.ranks_wait);
  REQUIRE(decided.notice.has_value());
  CHECK(decided.notice->code == error_code::unsupported);
  CHECK_THAT(decided.notice->message, ContainsSubstring("ranks 1-2 are on other nodes (n1, n2)"));
  CHECK_THAT(decided.notice->message, ContainsSubstring("process 10 is told that it is not debugged"));
}

TEST_CASE("gate decisions: ranks wait on other nodes too where the caller opens their gates") {
  fake_origins origins;
  gate_decisions decisions(true);
  const auto decided = decide(decisions, table_of({{"n1", 21, 0, 0}}), starter, origins);
  CHECK(decided.ranks_wait);
  CHECK_FALSE(decided.notice.has_value());
  CHECK(decisions.open_no_remote_gates());
  CHECK_FALSE(decisions.open_no_remote_gates());
  // A new world: of the first it was decided already.
  const auto table = table_of({{"n1", 21, 0, 0}, {"n1", 22, 1, 0}}, 2);
  CHECK_FALSE(decide(decisions, table, starter, origins).ranks_wait);
}

TEST_CASE("gate decisions: a parent decides on the ranks that it starts, and on no others") {
  fake_origins origins;
  const process_id parent{21};
  gate_decisions decisions(false);
  CHECK_FALSE(decide(decisions, table_of({{here, 21, 0, 0}, {"n1", 22, 0, 1}}), starter, origins).ranks_wait);
  // The first world has a remote rank still. The rank that spawns starts local ranks alone.
  origins.spawned_by[process_id{31}] = parent;
  const auto table = table_of({{here, 21, 0, 0}, {"n1", 22, 0, 1}, {here, 31, 1, 0}}, 2);
  CHECK(decide(decisions, table, parent, origins).ranks_wait);
}

TEST_CASE("gate decisions: after a refused gate the last parent is told, once") {
  fake_origins origins;
  gate_decisions decisions(false);
  const auto table = table_of({{here, 21, 0, 0}});
  (void)decide(decisions, table, starter, origins);
  CHECK_FALSE(decisions.take_refused_parent().has_value());
  // The parent runs on: a refusal from now on comes too late for it.
  decisions.refuse();
  CHECK_FALSE(decisions.take_refused_parent().has_value());
  (void)decide(decisions, table, starter, origins);
  decisions.refuse();
  CHECK(decisions.take_refused_parent() == starter);
  CHECK_FALSE(decisions.take_refused_parent().has_value());
}

TEST_CASE("gate decisions: a new decision forgets an earlier refusal") {
  fake_origins origins;
  gate_decisions decisions(false);
  decisions.refuse();
  (void)decide(decisions, table_of({{here, 21, 0, 0}}), starter, origins);
  CHECK_FALSE(decisions.take_refused_parent().has_value());
}
