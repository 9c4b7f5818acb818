// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Looks into ranks and commands for each of them, in MPI2DD jobs that are followed all the same.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "mpi2dd_launch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// "spawned" and so on, with the pids that raised them.
std::multiset<std::string> raised_in(const std::vector<json>& reports) {
  std::multiset<std::string> all;
  for (const json& report : reports) {
    const std::string state = report.at("change").at("state");
    all.insert(state.substr(std::string("MPI2DD_DEBUG_").size()) + " " +
               std::to_string(report.at("change").at("raised_by").at("pid").get<int>()));
  }
  return all;
}

std::multiset<std::string> written_in(const scratch_folder& folder) {
  std::multiset<std::string> all;
  std::istringstream lines(file_contents(folder.path("oracle")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event.")) all.insert(line.substr(6));
  }
  return all;
}

const std::vector<std::string> job_of_three_worlds = {
    "mpi2dd_starter",  "--ranks",         "2",      "--world", "w0", "--directories", "1",
    "--metadirectory", "1/spawn_apart=2", "spawn=1"};

}  // namespace

TEST_CASE("mpi2dd: with stacks and queues every event is reported, and the stacks are of that moment") {
  const mpi2dd_launch run({"--json", "--stacks", "--queues"}, job_of_three_worlds);
  INFO(run.command.err);
  CHECK(raised_in(run.reports) == written_in(run.folder));
  std::size_t spawns = 0;
  for (const json& report : run.reports) {
    CHECK(report.contains("stacks") == (report.at("event") == "spawned"));
    if (report.at("event") != "spawned") continue;
    ++spawns;
    CHECK(report.at("stacks").at("ranks").size() == report.at("processes").size());
    for (const json& rank : report.at("stacks").at("ranks")) CHECK(rank.at("outcome") == "taken");
    // These ranks have no queue library: each was held and looked at all the same.
    for (const json& rank : report.at("queues").at("ranks")) CHECK(rank.at("outcome") == "failed");
  }
  CHECK(spawns == 3);
}

TEST_CASE("mpi2dd: a command of --each can trace its rank, and mpiacq follows the job meanwhile") {
  const scratch_folder folder;
  const std::string port = "each." + std::to_string(::getpid());
  // At the end rank 0 waits for somebody to connect: all ranks are there until each has had its command.
  std::vector<std::string> words = job_of_three_worlds;
  words.push_back("accept=" + port);
  const std::string command = "grep TracerPid /proc/{pid}/status; echo {rank} >>" + folder.path("names");
  running_command tool(mpi2dd_launch::words({"--json", "--each", command}, words), mpi2dd_launch::surroundings(folder));
  const auto names = [&] {
    std::multiset<std::string> all;
    std::istringstream lines(file_contents(folder.path("names")));
    for (std::string line; std::getline(lines, line);) all.insert(line);
    return all;
  };
  const auto said = [&](const std::string& key) { return read_oracle(folder.path("oracle"))[key]; };
  REQUIRE(comes_true([&] { return names().size() == 5; }));
  REQUIRE(comes_true([&] { return said(said("rank.w0.0.pid") + ".does") == "accept " + port; }));
  // All are followed again when their commands have ended.
  for (const auto& [key, value] : read_oracle(folder.path("oracle"))) {
    if (!key.starts_with("rank.")) continue;
    INFO(key);
    const std::string status = "/proc/" + value + "/status";
    CHECK(comes_true([&] { return file_contents(status).find("TracerPid:\t0\n") == std::string::npos; }));
  }
  reference_job other{{"mpi2dd_starter", "--ranks", "1", "--world", "B", "--hold", "connect=" + port}};
  other.ready();
  const auto run = tool.wait();
  CHECK(other.end() == 0);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  for (const std::string rank : {"0", "1", "1:0"}) {
    CHECK_THAT("\n" + run.err, ContainsSubstring("\n" + rank + ": TracerPid:\t0\n"));
  }
  // Ranks that were spawned later got one too, once each, by the names that they had.
  CHECK(names().count("0") == 1);
  CHECK(names().count("1") == 1);
  // Directories are nobody's rank: whatever they raised is told. A rank's own event may fall into its command's time.
  const auto raised = raised_in(documents_of(run.out));
  std::size_t directory_events = 0;
  for (const std::string& one : written_in(folder)) {
    const bool is_of_directory = one.starts_with("DIRECTORY_CHANGED") || one.starts_with("METADIRECTORY_CHANGED");
    const bool is_of_other_job = one.ends_with(" " + std::to_string(other.pid()));
    if (!is_of_directory || is_of_other_job) continue;
    ++directory_events;
    INFO(one);
    CHECK(raised.count(one) != 0);
  }
  CHECK(directory_events != 0);
}

TEST_CASE("mpi2dd: a job with commands of --each ends as it would without them") {
  const std::string port = "each_end." + std::to_string(::getpid());
  const mpi2dd_launch run({"--json", "--jobs", "1", "--each", "true"},
                          {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit", "3", "accept=" + port,
                           "1/connect=" + port, "1/spawn=1", "spawn=1"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 3);
  for (const auto& [key, value] : read_oracle(run.folder.path("oracle"))) {
    if (!key.starts_with("rank.")) continue;
    INFO(key);
    CHECK(run.said(value + ".left_init") == "1");
    CHECK(run.said(value + ".wait_status") == "0x0");
  }
}
