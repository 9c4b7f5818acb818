// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;

TEST_CASE("a table that is made has the problems of a table that is read") {
  const std::vector<job_world> worlds = {{"w0", {}}, {"w1", job_world::origin{"w0", rank_number{1}, 0}}};
  const std::vector<table_row> rows = {{"n1", "/bin/a", process_id{10}, 0, rank_number{0}},
                                       {"n2", "/bin/a", process_id{11}, 0, rank_number{1}},
                                       {"n1", std::nullopt, process_id{-3}, 1, rank_number{0}}};
  const process_table table = make_process_table(rows, worlds, {});
  REQUIRE(table.size() == 3);
  CHECK(table.host_name(entry_index{0}) == "n1");
  CHECK(table.host_numbers()[0] == table.host_numbers()[2]);
  CHECK(table.executable_numbers()[0] == table.executable_numbers()[1]);
  CHECK(table.string_count() == 3);
  CHECK(table.executable_name(entry_index{2}) == std::nullopt);
  CHECK(table.pid(entry_index{2}) == process_id{-3});
  CHECK(table.names().of(entry_index{2}) == "1:0");
  CHECK(table.worlds()[1].spawned_by == job_world::origin{"w0", rank_number{1}, 0});
  REQUIRE(table.problem_count() == 2);
  CHECK(table.problems()[0].sentence(table.names()) == "executable_name of rank 1:0: the pointer is null");
  CHECK(table.claimed_size() == 3);

  CHECK(table.same_processes(make_process_table(rows, worlds, {})));
  CHECK_FALSE(table.same_processes(make_process_table(rows, {{"w0", {}}, {"other", {}}}, {})));
  auto moved = rows;
  moved[1].world = 1;
  CHECK_FALSE(table.same_processes(make_process_table(moved, worlds, {})));
  CHECK(make_process_table({}, {}, {}).empty());
}
