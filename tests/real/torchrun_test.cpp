// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs of a launcher in Python that sets torchrun's variables for its workers, and has no interface for tools.
#include <csignal>

#include "real_job.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> launcher_line(int workers, const std::string& port) {
  return {"python3", MPIACQ_RANK_SOURCES "/torchrun_like.py", std::to_string(workers), port};
}

json report_of(const std::vector<std::string>& words) {
  std::vector<std::string> line = {MPIACQ_COMMAND};
  line.insert(line.end(), words.begin(), words.end());
  const auto run = run_command(line);
  INFO(run.err);
  REQUIRE(!run.out.empty());
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("torchrun's variables: two jobs side by side, each by its launcher and by each of its workers",
          "[releases]") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  running_job first(launcher_line(3, "29511"), 3), second(launcher_line(2, "29512"), 2);
  REQUIRE(first.ranks().size() == 3);
  REQUIRE(second.ranks().size() == 2);
  const json list = report_of({"jobs", "--json"});
  for (running_job* const job : {&first, &second}) {
    std::size_t rows = 0;
    for (const json& row : list.at("jobs")) {
      if (row.at("pid") != job->pid()) continue;
      ++rows;
      CHECK(row.at("source") == "environment");
      CHECK(row.at("launcher") == "torchrun");
      CHECK(row.at("ranks_here") == job->ranks().size());
      CHECK(row.at("ranks") == job->ranks().size());
      CHECK(row.at("problems").empty());
    }
    CHECK(rows == 1);
    std::vector<std::string> named = {job->pid_text()};
    for (const auto& [rank, pid] : job->ranks()) named.push_back(std::to_string(pid));
    for (const std::string& pid : named) {
      const json report = report_of({"stacks", "--json", pid});
      CHECK(report.at("source") == "environment");
      CHECK(report.at("starter").at("pid") == job->pid());
      std::map<long, long> seen;
      for (const json& rank : report.at("ranks")) {
        CHECK(rank.at("outcome") == "taken");
        seen[rank.at("rank")] = rank.at("pid");
      }
      CHECK(seen == job->ranks());
    }
    CHECK(job->disturbed() == "");
  }
  for (running_job* const job : {&first, &second}) {
    const std::size_t workers = job->ranks().size();
    const auto end = job->finish();
    CHECK(end.as_shell() == 0);
    CHECK(end.all_ranks_ended(workers));
  }
}
