// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPI2DD jobs in a pid namespace of their own, as in a container: their tables have the numbers of the container. The
// kernel says which process of this node each of them is.
#include <cstdlib>
#include <set>
#include <sstream>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attached.hpp"
#include "catch.hpp"
#include "live_process.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// Why no container can be made here; empty if one can.
std::string why_no_container() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return status == 0 ? "" : "this user cannot make pid and mount namespaces here";
}

/// A starter of two ranks with a metadirectory and two directories, which stays until its standard input ends.
class container_job {
 public:
  container_job() : process_(started()) {
    ::unsetenv("MPIACQ_ORACLE");
    (void)process_.lines_until_ready();
    REQUIRE(comes_true([this] { return starter() != 0; }));
  }
  /// `unshare`, whose only child is the starter.
  [[nodiscard]] long wrapper() const { return process_.pid().value(); }
  [[nodiscard]] long starter() const {
    const std::string number = std::to_string(wrapper());
    return std::atol(file_contents("/proc/" + number + "/task/" + number + "/children").c_str());
  }
  /// The number that the rank has in the container, as the job has written it down.
  [[nodiscard]] long number_inside(int rank) const {
    return std::atol(read_oracle(folder_.path("oracle")).at("rank.w0." + std::to_string(rank) + ".pid").c_str());
  }
  int end() { return process_.end(); }

 private:
  [[nodiscard]] std::vector<std::string> started() const {
    ::setenv("MPIACQ_ORACLE", folder_.path("oracle").c_str(), 1);
    return {"unshare",
            "--pid",
            "--mount",
            "--mount-proc",
            "--fork",
            "--kill-child",
            MPIACQ_MPI2DD "/mpi2dd_starter",
            "--ranks",
            "2",
            "--world",
            "w0",
            "--metadirectory",
            "--directories",
            "2",
            "--hold"};
  }
  scratch_folder folder_;
  live_process process_;
};

/// The last number in the line NSpid of /proc/PID/status: the one in the process's own namespace.
long innermost_number(long pid) {
  std::istringstream status(file_contents("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NSpid:")) return std::atol(line.substr(line.rfind('\t') + 1).c_str());
  }
  return 0;
}

void check_processes(const json& report, const container_job& job) {
  REQUIRE(report.at("processes").size() == 2);
  for (const json& process : report.at("processes")) {
    const long inside = job.number_inside(process.at("rank"));
    const long here = process.at("pid");
    CHECK(here != inside);
    CHECK(innermost_number(here) == inside);
    CHECK(process.at("container_pid") == inside);
    CHECK(process.at("local") == true);
    CHECK(process.at("state") == "running");
  }
}

}  // namespace

TEST_CASE(
    "mpi2dd: a job in a container is found by its starter, its wrapper and a rank, with the numbers of this node") {
  if (const auto why = why_no_container(); !why.empty()) MPIACQ_SKIP(why);
  container_job job;
  const attached by_starter = attach(job.starter());
  check_attached(by_starter, job.starter(), "mpi2dd");
  check_processes(by_starter.report, job);
  const attached by_wrapper = attach(job.wrapper());
  check_attached(by_wrapper, job.starter(), "mpi2dd");
  check_processes(by_wrapper.report, job);
  const attached by_rank = attach(by_starter.report.at("processes").at(1).at("pid"));
  check_attached(by_rank, job.starter(), "mpi2dd");
  check_processes(by_rank.report, job);
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: stacks and graph look at the processes of a job in a container") {
  if (const auto why = why_no_container(); !why.empty()) MPIACQ_SKIP(why);
  container_job job;
  const auto stacks = run_command({MPIACQ_COMMAND, "stacks", "--json", std::to_string(job.starter())});
  INFO(stacks.err);
  REQUIRE(stacks.exit_code == 0);
  const json report = json::parse(stacks.out);
  REQUIRE(report.at("ranks").size() == 2);
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(innermost_number(rank.at("pid")) == job.number_inside(rank.at("rank")));
  }
  const auto graph = run_command({MPIACQ_COMMAND, "graph", std::to_string(job.starter())});
  INFO(graph.out);
  CHECK(graph.exit_code == 0);
  CHECK_THAT(graph.out, !ContainsSubstring("problem: "));
  CHECK(job.end() == 0);
}
