// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's mpiexec.hydra, which has no table that a tool could find: its jobs by the environment of their
// ranks. What the ranks print is what must come out.
#include <filesystem>

#include "real_job.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::string lacking() {
  if (!is_installed("mpiexec.hydra") || !std::filesystem::exists(rank_program("mpi_pids_mpich"))) {
    return "MPICH (mpich, libmpich-dev) is not installed";
  }
  return "";
}

std::vector<std::string> hydra_line(int ranks) {
  return {"mpiexec.hydra", "-n", std::to_string(ranks), rank_program("mpi_pids_mpich")};
}

json report_of(const std::vector<std::string>& words) {
  std::vector<std::string> line = {MPIACQ_COMMAND};
  line.insert(line.end(), words.begin(), words.end());
  const auto run = run_command(line);
  INFO(run.err);
  REQUIRE(!run.out.empty());
  return json::parse(run.out);
}

/// By rank, the pids in a report of stacks.
std::map<long, long> pids_in(const json& report) {
  std::map<long, long> pids;
  for (const json& rank : report.at("ranks")) pids[rank.at("rank")] = rank.at("pid");
  return pids;
}

}  // namespace

TEST_CASE("stock MPICH: two jobs side by side, each by its starter and by each of its ranks", "[releases]") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  running_job first(hydra_line(2), 2), second(hydra_line(3), 3);
  if (first.ranks().size() != 2 || second.ranks().size() != 3) {
    MPIACQ_SKIP("this mpiexec and libmpich do not find each other: not all ranks have numbers of their own");
  }
  const json list = report_of({"jobs", "--json"});
  for (running_job* const job : {&first, &second}) {
    std::size_t rows = 0;
    for (const json& row : list.at("jobs")) {
      if (row.at("pid") != job->pid()) continue;
      ++rows;
      CHECK(row.at("source") == "environment");
      CHECK(row.at("launcher") == "hydra");
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
      CHECK(pids_in(report) == job->ranks());
    }
    CHECK(job->disturbed() == "");
  }
  for (running_job* const job : {&first, &second}) {
    const std::size_t ranks = job->ranks().size();
    const auto end = job->finish();
    CHECK(end.as_shell() == 0);
    CHECK(end.all_ranks_ended(ranks));
  }
}

TEST_CASE("stock MPICH: a process that a rank has forked is no rank", "[releases]") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  running_job job(
      {"mpiexec.hydra", "-n", "2", "sh", "-c", "sleep 600 & \"$0\" \"$@\"; kill $!", rank_program("mpi_pids_mpich")},
      2);
  const json report = report_of({"stacks", "--json", job.pid_text()});
  REQUIRE(report.at("ranks").size() == 2);
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    // The shell is the rank; the program and `sleep` are its children.
    const long pid = rank.at("pid");
    CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe").filename().string().ends_with("sh"));
  }
  CHECK(job.disturbed() == "");
  CHECK(job.finish().as_shell() == 0);
}
