// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// New processes of ranks that a job is followed for: the MPI-2 extension of message queue dumping.
#include <csignal>

#include <unistd.h>

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

const std::string queue_rank = MPIACQ_STARTERS "/../queue_ranks/queue_rank";

/// A process that a rank can name as spawned by it: it has the number `rank` of `size` in its own queues.
class spawned_rank {
 public:
  spawned_rank(const std::string& rank, const std::string& size, std::vector<std::string> words)
      : process_(line(rank, size, std::move(words))) {
    (void)process_.lines_until_ready();
  }
  [[nodiscard]] std::string word() const {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    return "spawned:" + std::to_string(process_.pid().value()) + ":" + host + ":" + queue_rank;
  }
  [[nodiscard]] long pid() const { return process_.pid().value(); }

 private:
  static std::vector<std::string> line(const std::string& rank, const std::string& size,
                                       std::vector<std::string> words) {
    words.insert(words.begin(), {queue_rank, rank, size, "library:" + queue_library("mpi2")});
    return words;
  }
  live_process process_;
};

json queues_document(long pid, int status) {
  const auto run = queues(pid, {"--json"});
  INFO(run.err);
  CHECK(run.exit_code == status);
  REQUIRE(!run.out.empty());
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("queues: spawned processes of this node get numbers beyond MPI_COMM_WORLD and are read like ranks") {
  const spawned_rank grandchild("3", "4", {});
  const spawned_rank child("2", "3", {"in:MPI_Recv", "comm:merged:0,1,2", "receive:merged:1:9:16", grandchild.word()});
  queue_job job(2, {"library:" + queue_library("mpi2"), "in:MPI_Recv", "comm:merged:0,1,2", "@1",
                    "receive:merged:2:9:16", child.word()});
  const json seen = queues_document(job.pid(), 0);
  INFO(seen.dump(1));
  REQUIRE(seen.at("ranks").size() == 4);
  CHECK(seen.at("ranks").at(2).at("rank") == 2);
  CHECK(seen.at("ranks").at(2).at("pid") == child.pid());
  CHECK(seen.at("ranks").at(3).at("rank") == 3);
  CHECK(seen.at("ranks").at(3).at("pid") == grandchild.pid());
  for (const json& rank : seen.at("ranks")) CHECK(rank.at("outcome") == "complete");
  // Each of the two waits for the other one.
  REQUIRE(seen.at("deadlocks").size() == 1);
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({1, 2}));
  CHECK(seen.at("deadlocks").at(0).at("certain") == true);
  CHECK_THAT(seen.at("notes").dump(), ContainsSubstring("rank 1 has spawned process " + std::to_string(child.pid())) &&
                                          ContainsSubstring("here it is rank 2"));
  for (const long pid : {child.pid(), grandchild.pid()}) {
    CHECK(comes_true([&] { return runs_freely(static_cast<pid_t>(pid)); }));
  }

  // attach asks each rank in the same way.
  const auto attached = run_command({MPIACQ_COMMAND, "attach", "--then", "detach", "--trust-library", "--queues",
                                     "--json", std::to_string(job.pid())});
  INFO(attached.err);
  CHECK(json::parse(attached.out).at("queues").at("ranks").at(2).at("pid") == child.pid());
}

TEST_CASE("queues: a spawned process that its library does not number by identities is kept apart from the ranks") {
  const spawned_rank child("0", "2", {"in:MPI_Recv", "receive:world:1:7:64"});
  queue_job job(2, {"library:" + queue_library("mpi2"), "in:MPI_Recv", "@0", "receive:world:1:7:64", "@1",
                    "receive:world:0:8:32", child.word()});
  const json seen = queues_document(job.pid(), 0);
  INFO(seen.dump(1));
  REQUIRE(seen.at("ranks").size() == 3);
  CHECK(seen.at("ranks").at(2).at("pid") == child.pid());
  REQUIRE(seen.at("deadlocks").size() == 1);
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({0, 1}));
}

TEST_CASE("queues: a spawned process that runs another program or has ended is left alone") {
  const live_process other({"/bin/sleep", "60"});
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string named = std::string(":") + host + ":" + queue_rank;
  queue_job job(2, {"library:" + queue_library("mpi2"), "@1", "spawned:" + std::to_string(other.pid().value()) + named,
                    "spawned:4194303" + named});
  const auto other_has = [&](const char* line) { return status_of(static_cast<pid_t>(other.pid().value()), line); };
  REQUIRE(comes_true([&] {
    return other_has("Name") == "sleep" && other_has("State").find('S') == 0 &&
           other_has("voluntary_ctxt_switches") != "0";
  }));
  const auto before = other_has("voluntary_ctxt_switches");
  const json seen = queues_document(job.pid(), 0);
  INFO(seen.dump(1));
  CHECK(seen.at("ranks").size() == 2);
  CHECK(new_processes(json{{"queues", seen}}, 1).size() == 2);
  CHECK(other_has("voluntary_ctxt_switches") == before);
}

TEST_CASE("queues: launch reports the processes that ranks spawn as soon as they spawn them") {
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
    "queues: at a second spawn event the stacks and queues of all ranks are taken, and all ranks are followed "
    "afterwards") {
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

TEST_CASE("queues: attach follows the ranks for the processes that they spawn") {
  queue_job job(2, {"library:" + queue_library("mpi2"), "@1", "spawned:4700:n6:/opt/early", "later", "@1",
                    "spawned:4711:n7:/opt/worker"});
  const json report = followed(job);
  CHECK(report.at("event") == "new-processes");
  CHECK(new_processes(report, 1) == std::vector<long>{4700, 4711});
}

TEST_CASE("queues: the report names the ranks behind agents, which are not followed for new processes") {
  const fake_ssh ssh;
  queue_job job(2, {"library:" + queue_library("mpi2"), "later", "@1", "spawned:4711:n7:/opt/worker"});
  const json report = followed(job, {"--agents", "ssh"});
  INFO(report.dump());
  for (const json& rank : report.at("queues").at("ranks")) CHECK(rank.at("outcome") == "complete");
  CHECK(new_processes(report, 1).empty());
  CHECK_THAT(report.at("problems").dump(),
             ContainsSubstring("ranks 0-1 are on other nodes: new processes of theirs will not be told"));
}

TEST_CASE("queues: ranks are followed for new processes only if their library announces them") {
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

TEST_CASE("queues: ranks that are followed for new processes run on if mpiacq ends or is killed") {
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
