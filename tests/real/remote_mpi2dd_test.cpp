// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An MPI2DD job whose one world is on two hosts, in a step of Slurm's: its ranks are looked at by the same commands as
// those of an MPIR job. The fixture launches on its own host alone, so two of it make that world: the tables on h1 have
// rank 0 of theirs, and rank 1 of those on h2.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "live_process.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr const char* starter = MPIACQ_MPI2DD "/mpi2dd_starter";
constexpr const char* ranks_program = MPIACQ_MPI2DD "/mpi2dd_rank_queues";
/// What each rank says of its queues: each of two waits for a message of the other.
constexpr const char* deadlock = "in:MPI_Recv @0 receive:world:1:7:64 @1 receive:world:0:7:64 @all";

class far_world {
 public:
  enum class by { slurm, nobody };
  /// `name`: of its files, which no other job has.
  far_world(const private_hosts& hosts, std::string name, by engine = by::slurm)
      : hosts_(hosts), name_(std::move(name)) {
    const std::vector<std::string> line = {"sh",
                                           "-c",
                                           "echo job $SLURM_JOB_ID step $SLURM_STEP_ID >$0.said; unset SLURM_PROCID; "
                                           "export MPIACQ_ORACLE=$0.$(hostname) MPI2DD_QUEUES=\"$3\"; "
                                           "exec $1 --ranks 2 --world w --hold --rank-program $2 --pass dll,-,$4",
                                           hosts.path(name_),
                                           starter,
                                           ranks_program,
                                           deadlock,
                                           MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so"};
    if (engine == by::slurm) {
      std::vector<std::string> step = {"srun", "-N2", "-n2", "-wh1,h2"};
      step.insert(step.end(), line.begin(), line.end());
      begin("h1", step);
    } else {
      begin("h1", line);
      begin("h2", line);
    }
    (void)started_.front()->lines_until_ready();
    (void)started_.back()->lines_until_ready();
    const auto told =
        hosts.run("h1", {MPIACQ_MPI2DD "/mpi2dd_directory", "--tell", pid("h1", "starter_pid"),
                         "drop_process,-," + pid("h1", "rank.w.1.pid"),
                         std::string("process,h2,") + ranks_program + ",w," + pid("h2", "rank.w.1.pid") + ",1"});
    INFO(told.err);
    CHECK(told.exit_code == 0);
  }

  [[nodiscard]] std::string pid(const std::string& host, const std::string& key) const {
    const auto all = read_oracle(hosts_.path(name_ + "." + host));
    const auto found = all.find(key);
    return found == all.end() ? "0" : found->second;
  }
  [[nodiscard]] command_outcome look(std::vector<std::string> line) const {
    line.insert(line.begin(), MPIACQ_COMMAND);
    line.push_back(pid("h1", "starter_pid"));
    return hosts_.run("h1", line, with_patience());
  }
  /// By its two ranks, what Slurm told them.
  [[nodiscard]] std::string slurm_said() const { return file_contents(hosts_.path(name_ + ".said")); }
  /// Each rank stands where it is on its host, with the number that it has there.
  void check_ranks(const json& ranks) const {
    REQUIRE(ranks.size() == 2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::string host = rank == 0 ? "h1" : "h2";
      INFO(ranks.at(rank).dump());
      CHECK(ranks.at(rank).at("host") == host);
      CHECK(std::to_string(ranks.at(rank).at("pid").get<long>()) ==
            pid(host, "rank.w." + std::to_string(rank) + ".pid"));
    }
  }
  /// As if nobody had looked.
  void check_left_alone() const {
    CHECK(comes_true([&] { return none_has_agents(hosts_); }));
    for (const std::string host : {"h1", "h2"}) {
      const std::string rank = pid(host, host == "h1" ? "rank.w.0.pid" : "rank.w.1.pid");
      CHECK(comes_true([&] {
        const auto status = hosts_.run(host, {"cat", "/proc/" + rank + "/status"}).out;
        return status.find("TracerPid:\t0\n") != std::string::npos && status.find("State:\tS") != std::string::npos;
      }));
    }
  }

 private:
  void begin(const std::string& host, const std::vector<std::string>& line) {
    started_.push_back(std::make_unique<live_process>(hosts_.on(host, line)));
  }

  const private_hosts& hosts_;
  std::string name_;
  std::vector<std::unique_ptr<live_process>> started_;
};

void check_stacks(const far_world& job, const json& stacks) {
  job.check_ranks(stacks.at("ranks"));
  for (const json& rank : stacks.at("ranks")) CHECK(rank.at("outcome") == "taken");
  CHECK(stacks.at("tree").at(0).at("ranks") == "0-1");
}

void check_queues(const far_world& job, const json& queues) {
  job.check_ranks(queues.at("ranks"));
  for (const json& rank : queues.at("ranks")) CHECK(rank.at("outcome") == "complete");
  CHECK(queues.at("cycles") == json::parse("[[0, 1]]"));
  REQUIRE(queues.at("deadlocks").size() == 1);
  CHECK(queues.at("deadlocks").at(0).at("certain") == true);
}

}  // namespace

TEST_CASE("Remote MPI2DD: stacks, and a deadlock between two hosts, with no option in a job of Slurm's") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const far_world job(hosts, "looked_at");
  REQUIRE(job.pid("h2", "rank.w.1.pid") != "0");
  for (const std::string by : {"automatic", "ssh"}) {
    const auto stacks = job.look({"stacks", "--json", "--agents", by});
    INFO(by << ": " << stacks.err << stacks.out);
    CHECK(stacks.exit_code == 0);
    CHECK(stacks.err == "");
    check_stacks(job, json::parse(stacks.out));
    const auto queues = job.look({"queues", "--json", "--trust-library", "--agents", by});
    INFO(queues.err << queues.out);
    CHECK(queues.exit_code == 0);
    CHECK(queues.err == "");
    check_queues(job, json::parse(queues.out));
    job.check_left_alone();
  }
}

TEST_CASE("Remote MPI2DD: with no option, and no launcher of the job, ssh reaches the other host") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const far_world job(hosts, "alone", far_world::by::nobody);
  REQUIRE(job.pid("h2", "rank.w.1.pid") != "0");
  const auto stacks = job.look({"stacks", "--json"});
  INFO(stacks.err << stacks.out);
  CHECK(stacks.exit_code == 0);
  CHECK(stacks.err == "");
  check_stacks(job, json::parse(stacks.out));
  const auto attached = job.look({"attach", "--json", "--stacks", "--then", "detach"});
  INFO(attached.err << attached.out);
  CHECK(attached.err == "");
  const json report = json::parse(attached.out);
  check_stacks(job, report.at("stacks"));
  CHECK(report.at("starter").at("job_id").is_null());
  job.check_left_alone();
}

TEST_CASE("Remote MPI2DD: attach looks at all hosts, knows its job of Slurm's, and leaves all as it was") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const far_world job(hosts, "attached");
  REQUIRE(job.pid("h2", "rank.w.1.pid") != "0");
  for (const std::string by : {"automatic", "ssh"}) {
    const auto run =
        job.look({"attach", "--json", "--stacks", "--queues", "--trust-library", "--then", "detach", "--agents", by});
    INFO(by << ": " << run.err << run.out);
    CHECK(run.exit_code == 0);
    CHECK(run.err == "");
    const json report = json::parse(run.out);
    check_stacks(job, report.at("stacks"));
    check_queues(job, report.at("queues"));
    const json& of = report.at("starter");
    CHECK_THAT(job.slurm_said(), ContainsSubstring("job " + of.at("job_id").get<std::string>() + " step " +
                                                   of.at("step_id").get<std::string>() + "\n"));
    job.check_left_alone();
  }
}

TEST_CASE("Remote MPI2DD: launch looks at the ranks of all hosts") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::string gate = hosts.path("gate");
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  const std::string report = hosts.path("launched");
  // The world's second rank is there before: it is of h2's own job, which says so.
  live_process step(
      hosts.on("h1", {"srun", "-N2", "-n2", "-wh1,h2", "sh", "-c",
                      "unset SLURM_PROCID; export MPIACQ_ORACLE=$0.$(hostname); "
                      "[ $(hostname) = h2 ] && exec $1 --ranks 2 --world w --hold; "
                      "read -r there <$2; "
                      "exec $3 launch --json --stacks -o $0 --then detach -- $1 --ranks 1 --world w --hold --do $there",
                      report, starter, gate, MPIACQ_COMMAND}));
  (void)step.lines_until_ready();
  auto there = read_oracle(report + ".h2");
  {
    std::ofstream told(gate);
    told << "process,h2," MPIACQ_MPI2DD "/mpi2dd_rank,w," << there["rank.w.1.pid"] << ",1\n";
  }
  (void)step.lines_until_ready();
  // The launch releases the job before it writes its report, so the starter can be ready before the report is whole.
  std::string text;
  CHECK(comes_true([&] { return json::accept(text = file_contents(report)); }));
  INFO(text);
  const json seen = json::parse(text);
  const auto here = read_oracle(report + ".h1");
  const json& ranks = seen.at("stacks").at("ranks");
  REQUIRE(ranks.size() == 2);
  CHECK(std::to_string(ranks.at(0).at("pid").get<long>()) == here.at("rank.w.0.pid"));
  CHECK(std::to_string(ranks.at(1).at("pid").get<long>()) == there["rank.w.1.pid"]);
  CHECK(ranks.at(1).at("host") == "h2");
  for (const json& rank : ranks) CHECK(rank.at("outcome") == "taken");
  CHECK(seen.at("starter").at("job_id").is_string());
  // Of the agents, and of the daemons that MPI2DD has nothing for, there is nothing to say.
  for (const json& problem : seen.at("problems"))
    CHECK_THAT(problem.dump(), ContainsSubstring("this tool opens no gates"));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}
