// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents as steps of a Slurm job on two nodes, proven by the cluster's own MUNGE.
#include <csignal>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "agents_running.hpp"
#include "catch.hpp"
#include "live_cluster.hpp"
#include "live_process.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "patience.hpp"
#include "running_job.hpp"
#include "slurm.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> srun_line() {
  return {"srun", "-N2", "-n4", "--overcommit", rank_program("plain_pids")};
}

/// Secrets of runs in the home directory.
std::size_t secrets_there() {
  const auto found = run_command({"sh", "-c", "ls -A ~ | grep -c '^\\.mpiacq-agents-'"});
  return static_cast<std::size_t>(std::atoi(found.out.c_str()));
}

rank_options by_slurm(const job_description& job) {
  rank_options options;
  options.agents->start = agent_start::slurm;
  options.agents->everywhere = true;  // both nodes are this machine
  options.agents->program = MPIACQ_AGENT;
  options.agents->job_id = job.facts.job_id.value_or("");
  const std::string conf = ::getenv("SLURM_CONF");
  options.agents->munge_socket = conf.substr(0, conf.rfind('/')) + "/munge.socket";
  options.agents->secret_folder = "/nowhere";
  return options;
}

}  // namespace

TEST_CASE("Slurm: agents come as a step of the job, and leave it as it was", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  REQUIRE(cluster.is_up());
  running_job job(srun_line(), 4);
  INFO(job.out());
  REQUIRE(job.ranks().size() == 4);
  const auto view = job::find(process_id{job.pid()}, {}, clock::now() + patience);
  REQUIRE(view.has_value());
  {
    auto made = view->ranks(by_slurm(*view));
    INFO((made ? "" : made.error().message));
    REQUIRE(made.has_value());
    rank_group& ranks = *made;
    REQUIRE(ranks.nodes().size() == 2);
    for (const job_node& node : ranks.nodes()) {
      INFO(node.host << ": " << (node.why ? node.why->message : ""));
      CHECK_FALSE(node.why.has_value());
    }
    for (const rank_hold& rank : ranks.hold()) CHECK(rank.state == hold_state::held);
    for (const auto& [rank, pid] : job.ranks()) CHECK(status_of_task("/proc/" + std::to_string(pid)).tracer != 0);
    for (const auto& outcome : ranks.release()) CHECK(outcome.has_value());
    const group_stacks stacks = ranks.stacks();
    CHECK(stacks.taken.text() == "0-3");
    CHECK(stacks.refused.empty());
    CHECK(agents_running() >= 2);
  }
  CHECK(comes_true([] { return agents_running() == 0; }));
  CHECK(job.disturbed() == "");
  const job_end end = job.finish();
  CHECK_FALSE(end.timed_out);
  CHECK(end.all_ranks_ended(4));
}

TEST_CASE("Slurm: one tree of stacks over all nodes, by the command", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  REQUIRE(cluster.is_up());
  running_job job(srun_line(), 4);
  REQUIRE(job.ranks().size() == 4);
  const auto run = run_command({MPIACQ_COMMAND, "stacks", "--json", "--agents", "slurm", job.pid_text()});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err == "");
  const json report = json::parse(run.out);
  REQUIRE(report.at("ranks").size() == 4);
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("host") == (rank.at("rank") < 2 ? "n1" : "n2"));
  }
  REQUIRE_FALSE(report.at("tree").empty());
  CHECK(report.at("tree").at(0).at("ranks") == "0-3");
  CHECK(job.disturbed() == "");
  CHECK(job.finish().all_ranks_ended(4));
}

TEST_CASE("Slurm: a deadlock between ranks on two nodes is found, by the command", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  REQUIRE(cluster.is_up());
  // A small MPI of the tests' own: each of two ranks receives from the other, and neither sends.
  const std::string rank = "exec " MPIACQ_QUEUE_RANKS "/queue_rank $SLURM_PROCID 2 library:" MPIACQ_QUEUE_LIBRARIES
                           "/libqueue_perfect.so receive:world:$((1 - SLURM_PROCID)):7:64 in:MPI_Recv";
  live_process job({"srun", "-N2", "-n2", "--overcommit", "--unbuffered", "sh", "-c", rank});
  (void)job.lines_until_ready();
  (void)job.lines_until_ready();
  const auto run = run_command(
      {MPIACQ_COMMAND, "queues", "--json", "--agents", "slurm", "--trust-library", std::to_string(job.pid().value())});
  INFO(run.err << run.out);
  REQUIRE(run.exit_code == 0);
  const json report = json::parse(run.out);
  REQUIRE(report.at("ranks").size() == 2);
  for (const json& one : report.at("ranks")) CHECK(one.at("call") == "MPI_Recv");
  CHECK(report.at("looks") == 2);
  REQUIRE(report.at("deadlocks").size() == 1);
  CHECK(report.at("deadlocks").at(0).at("certain") == true);
  CHECK(report.at("cycles") == json::parse("[[0, 1]]"));
  CHECK(job.end() == 0);
}

TEST_CASE("Slurm: the members of a communicator are found over two nodes, and they alone are looked at") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  REQUIRE(cluster.is_up());
  // The ranks 1 and 3 of four, one on each node.
  const std::string rank = "exec " MPIACQ_QUEUE_RANKS "/queue_rank $SLURM_PROCID 4 library:" MPIACQ_QUEUE_LIBRARIES
                           "/libqueue_perfect.so comm:pair:3,1";
  live_process job({"srun", "-N2", "-n4", "--overcommit", "--unbuffered", "sh", "-c", rank});
  for (int each = 0; each < 4; ++each) (void)job.lines_until_ready();
  const auto look = [&](const char* command, const char* communicator) {
    return run_command({MPIACQ_COMMAND, command, "--json", "--agents", "slurm", "--trust-library", "--ranks",
                        communicator, std::to_string(job.pid().value())});
  };
  for (const char* command : {"stacks", "queues"}) {
    const auto run = look(command, "comm:pair");
    INFO(run.err << run.out);
    REQUIRE(run.exit_code == 0);
    const json report = json::parse(run.out);
    REQUIRE(report.at("ranks").size() == 2);
    CHECK((report.at("ranks").at(0).at("rank") == 1 && report.at("ranks").at(0).at("host") == "n1"));
    CHECK((report.at("ranks").at(1).at("rank") == 3 && report.at("ranks").at(1).at("host") == "n2"));
  }
  const auto none = look("stacks", "comm:nobody's");
  CHECK(none.exit_code == 125);
  CHECK_THAT(none.err, ContainsSubstring("no rank has a communicator \"nobody's\""));
  CHECK(job.end() == 0);
}

TEST_CASE("Slurm: launch shows stacks and queues of the ranks of two nodes", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  if (srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  REQUIRE(cluster.is_up());
  const scratch_folder folder;
  std::vector<std::string> line = {
      MPIACQ_COMMAND,        "launch", "--stacks", "--queues", "--agents", "slurm", "--json", "-o",
      folder.path("report"), "--"};
  for (const std::string& word : srun_line()) line.push_back(word);
  const auto run = run_command(line);
  INFO(run.err << run.out);
  const json report = json::parse(file_contents(folder.path("report")));
  INFO(report.dump(1));
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK(ranks_of_tree(report.at("stacks").at("tree")) == "0-3");
  for (const char* part : {"stacks", "queues"}) {
    INFO(part);
    REQUIRE(report.at(part).at("ranks").size() == 4);
    for (const json& rank : report.at(part).at("ranks")) CHECK(rank.at("host") == (rank.at("rank") < 2 ? "n1" : "n2"));
  }
  for (const json& rank : report.at("stacks").at("ranks")) CHECK(rank.at("outcome") == "taken");
  CHECK(comes_true([] { return agents_running() == 0; }));
}

TEST_CASE("Slurm: agents end when mpiacq is killed, and the ranks go on") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  REQUIRE(cluster.is_up());
  running_job job(srun_line(), 4);
  REQUIRE(job.ranks().size() == 4);
  const std::size_t secrets = secrets_there();
  running_command command({MPIACQ_COMMAND, "stacks", "--agents", "slurm", "--samples", "1000000", job.pid_text()});
  // When all have come their secret is taken away: nothing is left behind from then on.
  REQUIRE(comes_true([&] { return agents_running() >= 2 && secrets_there() == secrets; }));
  ::kill(command.pid(), SIGKILL);
  const auto killed = clock::now();
  CHECK(comes_true([] { return agents_running() == 0; }));
  CHECK(clock::now() - killed < soon);
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  CHECK(job.finish().all_ranks_ended(4));
}
