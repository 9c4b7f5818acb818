// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a launch by PMIx says of ranks on other nodes, for made-up jobs.
#include "parts/pmix_launch.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct rank_place {
  std::string host;  ///< empty: the table has no host for this rank
  bool is_here = false;
};

/// A job with one rank at each place, in this order.
job_description job_at(const std::vector<rank_place>& places) {
  std::vector<table_row> rows;
  std::vector<bool> here;
  for (const rank_place& one : places) {
    const auto number = static_cast<std::int32_t>(rows.size());
    table_row row;
    if (!one.host.empty()) row.host = one.host;
    row.executable = "/bin/app";
    row.pid = process_id{100 + number};
    row.rank = rank_number{number};
    rows.push_back(row);
    here.push_back(one.is_here);
  }
  job_description job;
  auto table = std::make_shared<process_table>(make_process_table(rows, {}, {}));
  std::vector<bool> local_hosts(table->string_count());
  const auto hosts = table->host_numbers();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (here[i]) local_hosts[hosts[i]] = true;
  }
  job.locality = entry_locality(*table, local_hosts);
  job.processes = std::move(table);
  return job;
}

/// So many hosts with one rank each, and rank 0 on this node.
job_description job_on_other_hosts(std::size_t count) {
  std::vector<rank_place> places = {{"here", true}};
  for (std::size_t i = 0; i < count; ++i) places.push_back({"n" + std::to_string(i + 1)});
  return job_at(places);
}

}  // namespace

TEST_CASE("launch by PMIx: a job whose ranks are all on this node has no rank that was not held") {
  CHECK(ranks_not_held(job_at({{"here", true}, {"here", true}})).empty());
}

TEST_CASE("launch by PMIx: each other host is one problem, which names the host and its ranks") {
  const auto problems = ranks_not_held(job_at({{"here", true}, {"n2"}, {"n1"}, {"here", true}, {"n2"}, {"n2"}, {""}}));
  REQUIRE(problems.size() == 3);
  for (const error& one : problems) CHECK(one.code == error_code::unsupported);
  std::string all;
  for (const error& one : problems) all += one.message + "\n";
  CHECK_THAT(all, ContainsSubstring("n1 (2)"));
  CHECK_THAT(all, ContainsSubstring("n2 (1,4-5)"));
  CHECK_THAT(all, ContainsSubstring("a node without a name (6)"));
  CHECK_THAT(all, !ContainsSubstring("here"));
}

TEST_CASE("launch by PMIx: the report names at most 16 other hosts, and gives the number of the rest") {
  constexpr std::size_t most_named = 16;
  CHECK(ranks_not_held(job_on_other_hosts(most_named)).size() == most_named);
  const auto one_more = ranks_not_held(job_on_other_hosts(most_named + 1));
  REQUIRE(one_more.size() == most_named + 1);
  CHECK_THAT(one_more.back().message, ContainsSubstring("1 more node"));
  const auto many = ranks_not_held(job_on_other_hosts(5000));
  REQUIRE(many.size() == most_named + 1);
  CHECK_THAT(many.back().message, ContainsSubstring(std::to_string(5000 - most_named) + " more nodes"));
}
