// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// New processes of ranks that a job is followed for: the MPI-2 extension of message queue dumping.
#include <csignal>

#include "attached.hpp"
#include "catch.hpp"
#include "fake_ssh.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

const std::vector<std::string> two_spawns_later = {"later", "@1", "spawned:4711:n7:/opt/worker",
                                                   "spawned:4712:n8:/opt/worker"};

std::vector<std::string> launch_line(const std::vector<std::string>& options, const std::string& library,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--trust-library"};
  line.insert(line.end(), options.begin(), options.end());
  line.insert(line.end(),
              {"--", MPIACQ_STARTERS "/../queue_ranks/queue_job", "--ranks", "2", "library:" + queue_library(library)});
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

/// As a report has them, of one rank.
std::vector<long> new_processes(const json& report, std::size_t rank) {
  std::vector<long> all;
  for (const json& one : report.at("queues").at("ranks").at(rank).at("new_processes")) all.push_back(one.at("pid"));
  return all;
}

/// The last report of an attach that stays to the job's end.
json followed(queue_job& job, const std::vector<std::string>& options = {}) {
  const scratch_folder folder;
  std::vector<std::string> line = {MPIACQ_COMMAND, "attach", "--then", "continue",           "--trust-library",
                                   "--queues",     "--json", "-o",     folder.path("report")};
  line.insert(line.end(), options.begin(), options.end());
  line.push_back(std::to_string(job.pid()));
  running_command tool(line);
  // By its first report it has its breakpoints.
  REQUIRE(comes_true([&] { return !file_contents(folder.path("report")).empty(); }));
  CHECK(WEXITSTATUS(job.end()) == 0);
  const auto ended = tool.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  return json::parse(file_contents(folder.path("report")));
}

}  // namespace

TEST_CASE("queues: what ranks spawn is told when it happens, while a launched job is followed") {
  const auto run = run_command(launch_line({"--queues"}, "mpi2", two_spawns_later));
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const auto first = run.err.find("mpiacq: rank 1 has spawned process 4711 on n7: /opt/worker\n");
  const auto second = run.err.find("mpiacq: rank 1 has spawned process 4712 on n8: /opt/worker\n");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  CHECK(first < second);
  CHECK(run.err.find("4711", first + 50) == std::string::npos);
  // Ranks end as they would have.
  CHECK_THAT(run.out, ContainsSubstring("rank 0 pid") && ContainsSubstring("rank 1 pid"));

  const scratch_folder folder;
  const auto document =
      run_command(launch_line({"--queues", "--json", "-o", folder.path("report")}, "mpi2", two_spawns_later));
  CHECK(document.exit_code == 0);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(report.at("event") == "new-processes");
  CHECK(new_processes(report, 0).empty());
  CHECK(new_processes(report, 1) == std::vector<long>{4711, 4712});
}

TEST_CASE(
    "queues: at a second spawn event stacks and queues of all ranks are taken, and all are followed from then on") {
  const std::vector<std::string> words = {"grows",
                                          "in:MPI_Recv",
                                          "@0",
                                          "receive:world:1:7:64",
                                          "later",
                                          "@0",
                                          "spawned:4711:n7:/opt/worker",
                                          "@1",
                                          "spawned:4712:n8:/opt/worker"};
  const scratch_folder folder;
  const auto run = run_command(launch_line({"--stacks", "--queues", "-o", folder.path("report")}, "mpi2", words));
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::string text = file_contents(folder.path("report"));
  INFO(text);
  CHECK(text.find("busy") == std::string::npos);
  CHECK(text.find("cannot be looked at") == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("rank 0 has spawned process 4711 on n7: /opt/worker") &&
                       ContainsSubstring("rank 1 has spawned process 4712 on n8: /opt/worker"));

  const auto again =
      run_command(launch_line({"--stacks", "--queues", "--json", "-o", folder.path("document")}, "mpi2", words));
  CHECK(again.exit_code == 0);
  const json report = json::parse(file_contents(folder.path("document")));
  INFO(report.dump());
  CHECK(report.at("event") == "new-processes");
  REQUIRE(report.at("queues").at("ranks").size() == 2);
  for (const json& rank : report.at("queues").at("ranks")) CHECK(rank.at("outcome") == "complete");
  CHECK(new_processes(report, 0) == std::vector<long>{4711});
  CHECK(new_processes(report, 1) == std::vector<long>{4712});
}

TEST_CASE("queues: an attached job is followed for what its ranks spawn, too") {
  queue_job job(2, {"library:" + queue_library("mpi2"), "@1", "spawned:4700:n6:/opt/early", "later", "@1",
                    "spawned:4711:n7:/opt/worker"});
  const json report = followed(job);
  CHECK(report.at("event") == "new-processes");
  CHECK(new_processes(report, 1) == std::vector<long>{4700, 4711});
}

TEST_CASE("queues: ranks that agents look after are not followed for new processes, and are named") {
  const fake_ssh ssh;
  queue_job job(2, {"library:" + queue_library("mpi2"), "later", "@1", "spawned:4711:n7:/opt/worker"});
  const json report = followed(job, {"--agents", "ssh"});
  INFO(report.dump());
  for (const json& rank : report.at("queues").at("ranks")) CHECK(rank.at("outcome") == "complete");
  CHECK(new_processes(report, 1).empty());
  CHECK_THAT(report.at("problems").dump(),
             ContainsSubstring("ranks 0-1 are on other nodes: new processes of theirs will not be told"));
}

TEST_CASE("queues: ranks are followed for new processes only where their library tells of them") {
  for (const std::string library : {"perfect", "mpi2_without_spawn_breakpoint_name"}) {
    INFO(library);
    queue_job job(2, {"library:" + queue_library(library)});
    const scratch_folder folder;
    running_command tool({MPIACQ_COMMAND, "attach", "--then", "continue", "--trust-library", "--queues", "--json", "-o",
                          folder.path("report"), std::to_string(job.pid())});
    REQUIRE(comes_true([&] { return !file_contents(folder.path("report")).empty(); }));
    for (const pid_t rank : job.ranks()) CHECK(runs_freely(rank));
    CHECK(WEXITSTATUS(job.end()) == 0);
    CHECK(tool.wait().exit_code == 0);
  }
}

TEST_CASE(
    "queues: whoever follows ranks for new processes lets them go when it is told to end, and when it is killed") {
  for (const int signal : {SIGINT, SIGKILL}) {
    INFO(signal);
    queue_job job(2, {"library:" + queue_library("mpi2"), "later", "@1", "spawned:4711:n7:/opt/worker"});
    const scratch_folder folder;
    running_command tool({MPIACQ_COMMAND, "attach", "--then", "continue", "--trust-library", "--queues", "--json", "-o",
                          folder.path("report"), std::to_string(job.pid())});
    REQUIRE(comes_true([&] { return !file_contents(folder.path("report")).empty(); }));
    ::kill(tool.pid(), signal);
    (void)tool.wait();
    for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
    // The breakpoint has gone: its function is called now.
    CHECK(WEXITSTATUS(job.end()) == 0);
  }
}
