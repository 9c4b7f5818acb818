// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Live processes that set a launcher's variables themselves. Their shell prints their pids.
#include <set>

#include "catch.hpp"
#include "environment_jobs.hpp"
#include "live_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A shell that starts ranks and waits for them; each rank has a child with the same variables.
live_process shell_with_ranks(const std::string& address, int ranks) {
  const std::string script =
      "exec 3<&0; export MASTER_ADDR=" + address + " MASTER_PORT=1 WORLD_SIZE=" + std::to_string(ranks) +
      "; for r in $(seq 0 " + std::to_string(ranks - 1) +
      "); do exec env RANK=$r sh -c 'cat <&3 >/dev/null & echo $$; wait' & done; echo started; wait";
  return live_process({"sh", "-c", script});
}

}  // namespace

TEST_CASE("live processes: each rank is the oldest process with its number, and the shell is their starter") {
  const std::string address = "mpiacq-test-" + std::to_string(::getpid());
  constexpr int count = 3;
  live_process shell = shell_with_ranks(address, count);
  std::set<std::int64_t> said;
  while (said.size() < count) {
    const auto line = shell.next_line();
    REQUIRE(line);
    if (*line != "started") said.insert(std::stoll(*line));
  }
  environment_jobs jobs;
  const auto match = jobs.job_of(shell.pid());
  REQUIRE(match);
  REQUIRE(*match);
  const environment_job& job = *(*match)->job;
  CHECK(job.launcher->kind == launcher_kind::torchrun);
  CHECK(job.id[0] == address);
  REQUIRE(job.starter);
  CHECK(job.starter->pid() == shell.pid());
  CHECK(job.size() == count);
  std::set<std::int64_t> found;
  std::int32_t next = 0;
  for (const environment_rank& one : job.worlds[0].ranks) {
    CHECK(one.rank == next++);
    found.insert(one.pid.value());
  }
  CHECK(found == said);
}
