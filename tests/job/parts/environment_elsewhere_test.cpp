// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process table of a job whose ranks on other nodes were found by agents, and answers that cannot be true.
#include "views/environment_elsewhere.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

environment_job job_of_four() {
  environment_job job;
  environment_world world;
  world.size = 4;
  world.ranks = {{1, process_id{101}, 0, "/bin/app"}};
  job.worlds.push_back(world);
  return job;
}

std::string text_of(const completed_ranks& all) {
  std::string text;
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    const table_row& row = all.rows[i];
    text += std::to_string(row.rank.value()) + ":" + std::string(row.host.value_or("?")) + ":" +
            std::to_string(row.pid.value()) + (all.is_here[i] ? "* " : " ");
  }
  return text;
}

}  // namespace

TEST_CASE("ranks of other nodes: they complete the table, in the order of ranks") {
  std::vector<error> problems;
  const elsewhere_ranks found{{{"n2", 0, 3, process_id{7}, "/bin/app"}, {"n1", 0, 0, process_id{8}, ""}}, {}};
  CHECK(text_of(rows_with(job_of_four(), "here", found, problems)) == "0:n1:8 1:here:101* 3:n2:7 ");
  CHECK(problems.empty());
}

TEST_CASE("ranks of other nodes: what the job cannot have is left out and reported") {
  std::vector<error> problems;
  const elsewhere_ranks found{{{"n2", 0, 4, process_id{7}, ""},
                               {"n2", 0, 4'000'000'000, process_id{7}, ""},
                               {"n2", 1, 0, process_id{7}, ""},
                               {"n2", 0, 2, process_id{0}, ""},
                               {"n2", 0, 2, process_id{-1}, ""},
                               {"n2", 0, 2, process_id{1'000'000'000'000}, ""}},
                              {}};
  CHECK(text_of(rows_with(job_of_four(), "here", found, problems)) == "1:here:101* ");
  CHECK(problems.size() == 6);
}

TEST_CASE("ranks of other nodes: a rank that two nodes have is the first one's, and this node's before all") {
  std::vector<error> problems;
  const elsewhere_ranks found{{{"n2", 0, 1, process_id{7}, ""},
                               {"n2", 0, 2, process_id{8}, ""},
                               {"n3", 0, 2, process_id{9}, ""},
                               // Another name of this node.
                               {"alias", 0, 1, process_id{101}, ""}},
                              {}};
  CHECK(text_of(rows_with(job_of_four(), "here", found, problems)) == "1:here:101* 2:n2:8 ");
  REQUIRE(problems.size() == 2);
  CHECK_THAT(problems[0].message, ContainsSubstring("rank 1 is process 101 on here, and process 7 on n2"));
}

TEST_CASE("ranks of other nodes: a flood of wrong answers leaves few problems") {
  std::vector<error> problems;
  elsewhere_ranks found;
  for (std::uint32_t i = 0; i < 100'000; ++i) found.ranks.push_back({"n2", 0, 4 + i, process_id{7}, ""});
  CHECK(rows_with(job_of_four(), "here", found, problems).rows.size() == 1);
  CHECK(problems.size() <= most_environment_problems + 1);
}

TEST_CASE("ranks of other nodes: a job is complete when each world has as many ranks here as it states") {
  environment_job job = job_of_four();
  CHECK(has_ranks_elsewhere(job));
  job.worlds.front().local_size = 4;
  CHECK_FALSE(has_ranks_elsewhere(job));
  job.worlds.front().local_size = 2;
  CHECK(has_ranks_elsewhere(job));
  job.worlds.front().size = 1;
  CHECK_FALSE(has_ranks_elsewhere(job));
  job.worlds.front().size.reset();
  CHECK(has_ranks_elsewhere(job));
}
