// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What mpiacq queues costs where there are many ranks.
#include <string>

#include "attached.hpp"
#include "catch.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("queues: 256 ranks are read with 256 descriptors") {
  constexpr int ranks = 256;
  queue_job job(ranks, {"in:MPI_Recv", "receive:world:0:8:32"});
  command_options how;
  how.limit = std::chrono::seconds(300);
  const auto run = run_command({"/bin/sh", "-c", "ulimit -n 256 && exec \"$0\" queues --trust-library --json \"$1\"",
                                MPIACQ_COMMAND, std::to_string(job.pid())},
                               how);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const json seen = json::parse(run.out);
  REQUIRE(seen.at("ranks").size() == ranks);
  for (const json& rank : seen.at("ranks")) {
    CAPTURE(rank.at("rank"), rank.at("problems").dump());
    CHECK(rank.at("outcome") == "complete");
    CHECK(rank.at("call") == "MPI_Recv");
    CHECK(rank.at("communicators").at(0).at("receives").size() == 1);
  }
}
