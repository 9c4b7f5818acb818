// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI 5 and later: its jobs by PMIx.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

json report_of(const std::vector<std::string>& words) {
  std::vector<std::string> line = {MPIACQ_COMMAND};
  line.insert(line.end(), words.begin(), words.end());
  const auto run = run_command(line, openmpi_options());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

/// The starter's pid, and those of its ranks: what a user may name.
std::vector<std::string> pids_of(const running_job& job) {
  std::vector<std::string> all = {job.pid_text()};
  for (const auto& [rank, pid] : job.ranks()) all.push_back(std::to_string(pid));
  return all;
}

/// 'S', 'T': field 3 of /proc/PID/stat.
char state_letter(long pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  return text.at(text.rfind(')') + 2);
}

void check_stacks(const json& report, const running_job& job) {
  CHECK(report.at("source") == "pmix");
  CHECK(report.at("starter").at("pid") == job.pid());
  std::map<long, long> seen;
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    seen[rank.at("rank")] = rank.at("pid");
  }
  CHECK(seen == job.ranks());
}

}  // namespace

TEST_CASE("Open MPI 5: a job by mpirun and by each of its ranks, from PMIx", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto ranks = GENERATE(4, 32);
  const int status = ranks == 4 ? 3 : 0;
  running_job job(mpirun_line(ranks, {"--exit", std::to_string(status)}), static_cast<std::size_t>(ranks));
  REQUIRE(job.ranks().size() == static_cast<std::size_t>(ranks));
  // The job of another test may not have ended yet.
  const json list = report_of({"jobs", "--json"}).at("jobs");
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const json& one) { return one.at("pid") == job.pid(); });
  REQUIRE(found != list.end());
  const json& row = *found;
  CHECK(row.at("source") == "pmix");
  CHECK(row.at("ranks_here") == ranks);
  CHECK(row.at("ranks") == ranks);
  CHECK(row.at("problems").empty());
  if (ranks == 4) {
    for (const std::string& pid : pids_of(job)) check_stacks(report_of({"stacks", "--json", pid}), job);
  }
  check_stacks(report_of({"stacks", "--json", "--source", "pmix", job.pid_text()}), job);
  CHECK(job.disturbed().empty());
  const auto end = job.finish();
  CHECK(end.as_shell() == status);
  CHECK(end.all_ranks_ended(static_cast<std::size_t>(ranks)));
}

TEST_CASE("Open MPI 5: the queues by mpirun and by a rank name the deadlock, from PMIx", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 3;
  const running_job job({mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(ranks),
                         rank_program("mpi_deadlock_openmpi")},
                        ranks);
  REQUIRE(job.ranks().size() == ranks);
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    json seen;
    CHECK(comes_true([&] {
      seen = report_of({"queues", "--json", pid});
      return !seen.at("cycles").empty();
    }));
    INFO(seen.dump(1));
    CHECK(seen.at("source") == "pmix");
    CHECK(seen.at("cycles") == json::array({json::array({0, 1, 2})}));
  }
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
}

TEST_CASE("Open MPI 5: attach by mpirun and by a rank reports the job, and its ranks can be left stopped",
          "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 3;
  running_job job(mpirun_line(ranks, {"--exit", "4"}), ranks);
  REQUIRE(job.ranks().size() == ranks);
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    const json report = report_of({"attach", "--json", pid});
    CHECK(report.at("starter").at("pid") == job.pid());
    REQUIRE(report.at("processes").size() == ranks);
    for (const json& entry : report.at("processes")) {
      CHECK(entry.at("pid") == job.ranks().at(entry.at("rank")));
      CHECK(entry.at("state") == "running");
    }
  }
  CHECK(job.disturbed().empty());
  const auto stopped = run_command({MPIACQ_COMMAND, "attach", "--then", "stop", job.pid_text()}, openmpi_options());
  INFO(stopped.err);
  CHECK(stopped.exit_code == 0);
  for (const auto& [rank, pid] : job.ranks()) {
    CHECK(comes_true([pid = pid] { return state_letter(pid) == 'T'; }));
    ::kill(static_cast<pid_t>(pid), SIGCONT);
  }
  CHECK(comes_true([&] { return state_letter(job.pid()) == 'S'; }));
  const auto end = job.finish();
  CHECK(end.as_shell() == 4);
  CHECK(end.all_ranks_ended(ranks));
}

TEST_CASE("Open MPI 5: attach follows the job to its end", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 2;
  const running_job job(mpirun_line(ranks), ranks);
  REQUIRE(job.ranks().size() == ranks);
  const scratch_folder folder;
  const std::string report = folder.path("report");
  running_command follower({MPIACQ_COMMAND, "attach", "--then", "continue", "-o", report, job.pid_text()},
                           openmpi_options());
  // A rank is killed while the job is followed.
  REQUIRE(comes_true([&] { return !file_contents(report).empty(); }));
  ::kill(static_cast<pid_t>(job.ranks().at(1)), SIGKILL);
  const auto followed = follower.wait();
  INFO(followed.out + followed.err);
  CHECK(followed.exit_code == 0);
  CHECK_THAT(followed.err + followed.out + file_contents(report), ContainsSubstring("have ended; rank 1 caused it"));
  CHECK_THAT(followed.err, ContainsSubstring(" ended"));
}

TEST_CASE("Open MPI 5: PMIx is asked a hundred times, and the asking tool killed, without harm", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 2;
  running_job job(mpirun_line(ranks, {"--exit", "5"}), ranks);
  REQUIRE(job.ranks().size() == ranks);
  for (int round = 0; round < 100; ++round) {
    // The tool dies after 0 to 99 ms: before, while and after it asks.
    char time[16];
    std::snprintf(time, sizeof time, "%.3f", round / 1000.0);
    (void)run_command({"timeout", "-s", "KILL", time, MPIACQ_COMMAND, "jobs"}, openmpi_options());
  }
  check_stacks(report_of({"stacks", "--json", job.pid_text()}), job);
  const auto end = job.finish();
  CHECK(end.as_shell() == 5);
  CHECK(end.all_ranks_ended(ranks));
}
