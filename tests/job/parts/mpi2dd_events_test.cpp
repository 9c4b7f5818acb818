// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/mpi2dd_events.hpp"

#include "entries.hpp"
#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::debug_state;

namespace {

constexpr process_id starter{10}, rank{11};

std::shared_ptr<const process_table> one_rank() {
  const std::vector<table_row> rows = {{"here", "/app", rank}};
  return std::make_shared<const process_table>(make_process_table(rows, {}, {}));
}

job_event event_for(debug_state state, bool is_first_table = false) {
  return event_of(job_change{state, rank, {}, 0}, std::nullopt, is_first_table);
}

}  // namespace

TEST_CASE("MPI2DD events: a job that runs has a table, whose starter has raised START") {
  fake_event_graph graph;
  graph.ranks = one_rank();
  const auto running = look_at_running_job(graph, starter);
  REQUIRE(running.has_value());
  CHECK(running->has_table);
  CHECK(running->aborting.empty());
  CHECK(graph.reads == std::vector<std::string>{"walk 10"});
}

TEST_CASE("MPI2DD events: a job that is being launched has no table yet") {
  fake_event_graph graph;
  SECTION("its table is empty") {}
  SECTION("its starter has not raised START") {
    graph.ranks = one_rank();
    graph.is_before_start = true;
  }
  const auto running = look_at_running_job(graph, starter);
  REQUIRE(running.has_value());
  CHECK_FALSE(running->has_table);
}

TEST_CASE("MPI2DD events: an abort that was raised before the attach is reported with its reason") {
  fake_event_graph graph;
  graph.aborts = {{rank, "no memory left"}};
  const auto running = look_at_running_job(graph, starter);
  REQUIRE(running.has_value());
  REQUIRE(running->aborting.size() == 1);
  const auto& abort = std::get<job_aborting>(running->aborting[0]);
  CHECK(abort.reason == "no memory left");
  CHECK(abort.change->raised_by == rank);
}

TEST_CASE("MPI2DD events: a graph that cannot be walked is an error") {
  fake_event_graph graph;
  graph.change = fail(error_code::process_gone, "it has ended");
  CHECK(look_at_running_job(graph, starter).error().code == error_code::process_gone);
  CHECK(read_change(graph, rank, {debug_state::spawn, {}, {}}).error().code == error_code::process_gone);
}

TEST_CASE("MPI2DD events: a directory change and an abort are about their own process, all others about any table") {
  fake_event_graph graph;
  graph.change = table_change{entries({4, 5}), 2};
  for (const debug_state own :
       {debug_state::directory_changed, debug_state::metadirectory_changed, debug_state::abort}) {
    graph.reads.clear();
    REQUIRE(read_change(graph, rank, {own, {}, {}}).has_value());
    CHECK(graph.reads == std::vector<std::string>{"own 11"});
  }
  for (const debug_state any :
       {debug_state::start, debug_state::spawn, debug_state::connect, debug_state::accept, debug_state::join}) {
    graph.reads.clear();
    const auto change = read_change(graph, rank, {any, {}, {}});
    REQUIRE(change.has_value());
    CHECK(graph.reads == std::vector<std::string>{"all 11"});
    CHECK(change->state == any);
    CHECK(change->raised_by == rank);
    CHECK(change->came == entries({4, 5}));
    CHECK(change->left == 2);
  }
}

TEST_CASE("MPI2DD events: START and SPAWN start ranks, and the first START of a job that was attached to attaches") {
  CHECK(std::holds_alternative<job_attached>(event_for(debug_state::start, true)));
  CHECK(std::holds_alternative<job_spawned>(event_for(debug_state::start)));
  CHECK(std::holds_alternative<job_spawned>(event_for(debug_state::spawn)));
  CHECK(std::holds_alternative<job_aborting>(event_for(debug_state::abort)));
  for (const debug_state other : {debug_state::connect, debug_state::accept, debug_state::join,
                                  debug_state::directory_changed, debug_state::metadirectory_changed}) {
    CHECK(std::holds_alternative<job_changed>(event_for(other)));
    CHECK_FALSE(starts_ranks(other));
  }
  CHECK(starts_ranks(debug_state::start));
  CHECK(starts_ranks(debug_state::spawn));
}
