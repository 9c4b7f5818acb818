// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the report of a job that stands still says of the ranks that wait in no call.
#include "report/text/standing_text.hpp"

#include "catch.hpp"

using namespace mpiacq;
using mpiacq::tool::standing_text;
using namespace std::chrono_literals;

TEST_CASE("the ranks that do the same are named together, with the shortest time") {
  job_stands_still job;
  job.busy = {{entry_index{3}, 125s, "solve", "", true},
              {entry_index{4}, 120s, "solve", "", true},
              {entry_index{7}, 130s, "serve(int)", "MPI_Iprobe", true},
              {entry_index{9}, 121s, "", "", false}};
  CHECK(standing_text(job, {}) ==
        "; rank 9 has been in the same place for 121 s; ranks 3-4 have been computing in solve() for 120 s"
        "; rank 7 has been calling MPI_Iprobe again and again in serve(int) for 130 s");
}

TEST_CASE("a job whose ranks all wait, and one with stopped ranks and with many groups") {
  job_stands_still job;
  CHECK(standing_text(job, {}).empty());
  job.stopped = rank_set::parse("2-3").value();
  CHECK(standing_text(job, {}) == "; a signal has stopped ranks 2-3");
  job.stopped = {};
  for (std::uint32_t i = 0; i < 5; ++i) job.busy.push_back({entry_index{i}, 1s, "f" + std::to_string(i), "", true});
  CHECK_THAT(standing_text(job, {}), ContainsSubstring("; 2 more groups of ranks are in no call that waits"));
}
