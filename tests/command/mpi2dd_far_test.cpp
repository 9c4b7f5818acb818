// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPI2DD jobs with processes on a host that cannot be reached: they stay in every report, with where they are and why
// no more is known of them, and nobody waits for them.
#include "attached.hpp"
#include "catch.hpp"
#include "fake_ssh.hpp"
#include "mpi2dd_launch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr auto far_notice = "rank 1 is on another node (far.invalid), where this tool opens no gates";

/// Rank 1 is elsewhere, and so is a directory that nobody can ask.
struct far_job : reference_job {
  far_job()
      : reference_job({"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--far", "1", "--hold", "--do",
                       "directory,far.invalid,/opt/mpi/directory,4242"}) {
    ready();
  }
};

/// Without the agents that would be tried to be started there.
command_outcome run(const std::string& verb, pid_t pid, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, verb, "--agents", "none"});
  options.push_back(std::to_string(pid));
  return run_command(options);
}

constexpr auto of_directory = "process 4242 is on far.invalid, and only processes of this node";

}  // namespace

TEST_CASE("mpi2dd: no rank of a launched job waits on another node without agents, and the report says so") {
  const bool with_commands = GENERATE(false, true);
  std::vector<std::string> options;
  if (with_commands) options = {"--each", "true"};
  const mpi2dd_launch job(options, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--far", "1", "--exit", "3"});
  INFO(job.command.err << job.command.out);
  CHECK(job.command.exit_code == 3);
  CHECK(job.said("world.w0.gates") == "0");
  for (const std::string number : {"0", "1"}) {
    CHECK(job.said(job.said("rank.w0." + number + ".pid") + ".left_init") == "1");
  }
  CHECK_THAT(job.command.out, ContainsSubstring("has spawned 2 processes on 2 hosts"));
  CHECK_THAT(job.command.out, ContainsSubstring("far.invalid"));
  CHECK_THAT(job.command.out, ContainsSubstring("remote"));
  CHECK_THAT(job.command.out, ContainsSubstring(far_notice));
  if (with_commands)
    CHECK_THAT(job.command.err, ContainsSubstring("the command is not run for rank 1, on other nodes"));
}

TEST_CASE("mpi2dd: agents open the gates of ranks on other nodes, and the job waits for its tool") {
  const fake_ssh ssh;
  const mpi2dd_launch job({"--agents", "ssh"},
                          {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--far", "1", "--exit", "3"});
  INFO(job.command.err << job.command.out);
  CHECK(job.command.exit_code == 3);
  CHECK(job.said("world.w0.gates") == "1");
  for (const std::string number : {"0", "1"}) {
    CHECK(job.said(job.said("rank.w0." + number + ".pid") + ".left_init") == "1");
  }
  CHECK_THAT(job.command.out, !ContainsSubstring("this tool opens no gates"));
}

TEST_CASE("mpi2dd: a job with ranks on other nodes runs on after then stop and then detach") {
  const mpi2dd_launch job({"--json", "--then", "detach"},
                          {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--far", "1", "--exit", "3"});
  INFO(job.command.err);
  CHECK(job.command.exit_code == 3);
  REQUIRE(job.reports.size() == 2);
  CHECK_THAT(job.reports.back().at("problems").dump(), ContainsSubstring(far_notice));
  const json& far = job.reports.back().at("processes").at(1);
  CHECK(far.at("state") == "remote");
  CHECK(far.at("local") == false);
  CHECK(far.at("host") == "far.invalid");
}

TEST_CASE("mpi2dd: attach names what is on other nodes, with the reason why it is not read") {
  far_job job;
  const attached seen = attach(job.pid());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  REQUIRE(seen.report.at("processes").size() == 2);
  CHECK(seen.report.at("processes").at(1).at("state") == "remote");
  CHECK_THAT(seen.report.at("problems").dump(), ContainsSubstring(of_directory));
  const auto text = run("attach", job.pid());
  CHECK_THAT(text.out, ContainsSubstring("2 processes on 2 hosts"));
  CHECK_THAT(text.out, ContainsSubstring("far.invalid"));
  CHECK_THAT(text.out, ContainsSubstring("remote"));
  CHECK_THAT(text.out, ContainsSubstring(of_directory));
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: stacks and queues name the ranks of other nodes and leave them out") {
  far_job job;
  const json stacks = json::parse(run("stacks", job.pid(), {"--json"}).out);
  REQUIRE(stacks.at("ranks").size() == 2);
  CHECK(stacks.at("ranks").at(0).at("outcome") == "taken");
  CHECK(stacks.at("ranks").at(1).at("outcome") == "remote");
  CHECK(stacks.at("ranks").at(1).at("host") == "far.invalid");
  CHECK_THAT(stacks.at("problems").dump(), ContainsSubstring(of_directory));
  const auto text = run("stacks", job.pid());
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("on other nodes"));
  CHECK_THAT(text.out, ContainsSubstring(of_directory));
  const json queues = json::parse(run("queues", job.pid(), {"--json"}).out);
  CHECK(queues.at("remote") == "1");
  CHECK_THAT(queues.at("problems").dump(), ContainsSubstring(of_directory));
  CHECK_THAT(run("queues", job.pid()).out, ContainsSubstring("on other nodes, and not looked at: rank 1"));
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: all three forms of the graph contain what is on other nodes") {
  far_job job;
  const json seen = json::parse(run("graph", job.pid(), {"--json"}).out);
  bool found = false;
  for (const json& visit : seen.at("visits")) {
    const json& process = seen.at("processes").at(visit.at("process").get<std::size_t>());
    if (process.at("pid") != 4242) continue;
    found = true;
    CHECK(visit.at("state") == "unreachable");
    CHECK_THAT(visit.at("failure").at("message").get<std::string>(), ContainsSubstring(of_directory));
  }
  CHECK(found);
  CHECK(seen.at("worlds").at(0).at("ranks") == "0-1");
  const auto text = run("graph", job.pid());
  CHECK_THAT(text.out, ContainsSubstring("1 on far.invalid"));
  CHECK_THAT(text.out, ContainsSubstring(of_directory));
  CHECK_THAT(run("graph", job.pid(), {"--dot"}).out, ContainsSubstring("(unreachable)"));
  CHECK(job.end() == 0);
}
