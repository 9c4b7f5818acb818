// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq jobs, and JOB omitted. Other jobs may run on the machine: a test looks for its own rows, or runs in a pid
// namespace of its own.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "another_user.hpp"
#include "attached.hpp"
#include "catch.hpp"
#include "hostile_text.hpp"
#include "variables_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

json jobs_listed() {
  const auto run = run_command({MPIACQ_COMMAND, "jobs", "--json"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

/// The row whose starter has this pid; null if there is none.
json row_of(const json& list, long starter) {
  for (const json& job : list.at("jobs")) {
    if (!job.at("starter").is_null() && job.at("starter").at("pid") == starter) return job;
  }
  return nullptr;
}

bool may_have_namespaces() {
  return run_command({"unshare", "--pid", "--fork", "--mount-proc", "true"}).exit_code == 0;
}

/// Runs a script where no other job of this machine is seen. `job NAME RANKS` starts a job and waits for its ranks.
command_outcome run_alone(const std::string& script) {
  const scratch_folder folder;
  const std::string fifo = folder.path("fifo");
  const std::string job = "job() { mkfifo " + fifo +
                          "$1; sh -c '"
                          "export MASTER_ADDR=$1 WORLD_SIZE=$2; for r in $(seq 0 $(($2 - 1))); do "
                          "exec env RANK=$r sh -c \"echo ready >" +
                          fifo +
                          "$1; exec sleep 600\" & done; wait' launcher $1 $2 & "
                          "for r in $(seq 1 $2); do read line; done <" +
                          fifo + "$1; }\n";
  return run_command(
      {"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", job + "M=" MPIACQ_COMMAND "\n" + script});
}

std::size_t rows_in(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(part) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("jobs: a starter with a table is listed with its ranks, and its forked copies are not") {
  const char* name = GENERATE("checked", "starter_pie");
  running_starter starter({name, "--hold"});
  starter.ready();
  const json list = jobs_listed();
  CHECK(list.at("schema") == "mpiacq.jobs/1");
  const json job = row_of(list, starter.pid());
  REQUIRE_FALSE(job.is_null());
  CHECK(job.at("pid") == starter.pid());
  CHECK(job.at("source") == "mpir");
  CHECK(job.at("ranks_here") == starter.ranks().size());
  CHECK(job.at("ranks") == starter.ranks().size());
  CHECK(job.at("user") == ::geteuid());
  CHECK(job.at("starter").at("executable") ==
        std::filesystem::canonical(MPIACQ_STARTERS "/" + std::string(name)).string());
  CHECK(job.at("command").at(1) == "--hold");
  CHECK(job.at("problems").empty());
  for (const pid_t rank : starter.ranks()) CHECK(row_of(list, rank).is_null());
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("jobs: a job that only the environment of its ranks shows is listed, and nothing of it is stopped") {
  const variables_job job(3);
  const json row = row_of(jobs_listed(), job.pid());
  REQUIRE_FALSE(row.is_null());
  CHECK(row.at("source") == "environment");
  CHECK(row.at("launcher") == "torchrun");
  CHECK(row.at("ranks_here") == 3);
  CHECK(row.at("ranks") == 3);
  CHECK(row.at("job_id").get<std::string>().starts_with("n1."));
  for (const auto& [rank, pid] : job.ranks()) CHECK(runs_freely(static_cast<pid_t>(pid)));
}

TEST_CASE("jobs: ranks on other nodes are counted and named") {
  const variables_job job(2, "n1", 8);
  const json row = row_of(jobs_listed(), job.pid());
  REQUIRE_FALSE(row.is_null());
  CHECK(row.at("ranks_here") == 2);
  CHECK(row.at("ranks") == 8);
  REQUIRE(row.at("problems").size() == 1);
  CHECK_THAT(row.at("problems").at(0).get<std::string>(), ContainsSubstring("ranks 2-7 are not among the processes"));
}

TEST_CASE("jobs: the list for people has a row for each job, and says what to do next") {
  const variables_job job(2);
  const auto run = run_command({MPIACQ_COMMAND, "jobs"});
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("JOB"));
  CHECK_THAT(run.out, ContainsSubstring("RANKS HERE"));
  std::istringstream lines(run.out);
  const std::string begins = "  " + std::to_string(job.pid()) + " ";
  std::string row;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begins)) row = line;
  }
  CHECK_THAT(row, ContainsSubstring("torchrun"));
  CHECK_THAT(row, ContainsSubstring("2 of 2"));
  CHECK_THAT(run.out, ContainsSubstring("the variables of its ranks show those of this node"));
  CHECK_THAT(run.out, ContainsSubstring("Next: mpiacq report"));
}

TEST_CASE("jobs: strings of a job reach no terminal as they are") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const variables_job job(2, hostile);
  check_output(run_command({MPIACQ_COMMAND, "jobs"}));
  check_output(run_command({MPIACQ_COMMAND, "jobs", "--json"}));
  check_output(run_command({MPIACQ_COMMAND, "stacks", std::to_string(job.pid())}));
  CHECK_FALSE(row_of(jobs_listed(), job.pid()).is_null());
}

TEST_CASE("jobs: a user sees the user's own jobs, and how many processes were not looked at") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const variables_job job(2);
  command_options how;
  how.as_nobody = true;
  const auto run = run_command({MPIACQ_COMMAND, "jobs", "--json"}, how);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const json list = json::parse(run.out);
  CHECK(row_of(list, job.pid()).is_null());
  CHECK(list.at("looked_at").at("refused") > 0);
}

TEST_CASE("jobs: where there is no job the answer says what was looked at and what to do") {
  if (!may_have_namespaces()) MPIACQ_SKIP("this user cannot make a pid namespace with a /proc of its own");
  const auto run = run_alone("$M jobs; echo status $?; $M stacks; echo status $?");
  INFO(run.out << run.err);
  CHECK_THAT(run.out, ContainsSubstring("mpiacq: no parallel job on this node"));
  CHECK_THAT(run.out, ContainsSubstring("looked at: the environment of"));
  CHECK_THAT(run.out, ContainsSubstring("Open MPI, PRRTE, Hydra, Slurm, Flux, PALS and torchrun"));
  CHECK_THAT(run.out, ContainsSubstring("status 0"));
  CHECK_THAT(run.out, ContainsSubstring("status 125"));
  CHECK_THAT(run.err, ContainsSubstring("no parallel job on this node"));
}

TEST_CASE("jobs: without JOB a command takes the only job of the node") {
  if (!may_have_namespaces()) MPIACQ_SKIP("this user cannot make a pid namespace with a /proc of its own");
  const std::string command = GENERATE("stacks", "queues");
  const auto run = run_alone("job n1 3; $M " + command + " --json; echo status $?");
  INFO(run.out << run.err);
  // No queue library is there to be asked; the job was found all the same.
  CHECK_THAT(run.out, ContainsSubstring(command == "stacks" ? "status 0" : "status 1"));
  const json report = json::parse(run.out.substr(0, run.out.rfind("status ")));
  CHECK(report.at("source") == "environment");
  CHECK(report.at("ranks").size() == 3);
}

TEST_CASE("jobs: without JOB several jobs are listed, and the command ends in 125") {
  if (!may_have_namespaces()) MPIACQ_SKIP("this user cannot make a pid namespace with a /proc of its own");
  const std::string command = GENERATE("stacks", "queues", "attach", "graph");
  const auto run = run_alone("job n1 2; job n2 2; $M " + command + "; echo status $?");
  INFO(run.out << run.err);
  CHECK(run.out == "status 125\n");
  CHECK(rows_in(run.err, " 2 of 2 ") == 2);
  CHECK_THAT(run.err, ContainsSubstring("there are 2 jobs on this node: name one of them"));
}

TEST_CASE("jobs: a job that the command runs in is listed and not chosen") {
  if (!may_have_namespaces()) MPIACQ_SKIP("this user cannot make a pid namespace with a /proc of its own");
  const auto run = run_alone("job n1 2; RANK=0 WORLD_SIZE=1 MASTER_ADDR=n2 sh -c '$0 jobs; $0 stacks --json' $M");
  INFO(run.out << run.err);
  CHECK_THAT(run.out, ContainsSubstring("2 jobs on this node"));
  CHECK_THAT(run.out, ContainsSubstring("this command runs inside of it"));
  CHECK(json::parse(run.out.substr(run.out.find("{\"schema"))).at("ranks").size() == 2);
}

TEST_CASE("environment: stacks by the pid of the starter, of a rank and of a rank's child") {
  const variables_job job(3);
  const long rank_1 = job.ranks().at(1);
  const std::string child =
      file_contents("/proc/" + std::to_string(rank_1) + "/task/" + std::to_string(rank_1) + "/children");
  for (const std::string& named :
       {std::to_string(job.pid()), std::to_string(rank_1), child.substr(0, child.find(' '))}) {
    INFO(named);
    const auto run = run_command({MPIACQ_COMMAND, "stacks", "--json", named});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    const json report = json::parse(run.out);
    CHECK(report.at("source") == "environment");
    CHECK(report.at("launcher") == "torchrun");
    CHECK(report.at("starter").at("pid") == job.pid());
    REQUIRE(report.at("ranks").size() == 3);
    for (const json& rank : report.at("ranks")) {
      CHECK(rank.at("outcome") == "taken");
      CHECK(rank.at("pid") == job.ranks().at(rank.at("rank").get<long>()));
    }
  }
  const auto text = run_command({MPIACQ_COMMAND, "stacks", "--ranks", "2", std::to_string(rank_1)});
  INFO(text.out);
  CHECK_THAT(text.out, ContainsSubstring("is rank 1 of this job"));
  CHECK_THAT(text.out, ContainsSubstring("source: environment (the variables that torchrun sets for its ranks)"));
  CHECK_THAT(text.out, ContainsSubstring("stacks of 1 of 1 rank"));
  for (const auto& [rank, pid] : job.ranks()) CHECK(runs_freely(static_cast<pid_t>(pid)));
}

TEST_CASE("environment: --source chooses, and a table is preferred to the environment") {
  const variables_job job(2);
  const auto by_table = run_command({MPIACQ_COMMAND, "stacks", "--source", "mpir", std::to_string(job.pid())});
  CHECK(by_table.exit_code == 125);
  CHECK_THAT(by_table.err, ContainsSubstring("is no starter"));
  ::setenv("MASTER_ADDR", "n1", 1);
  ::setenv("WORLD_SIZE", "1", 1);
  ::setenv("RANK", "0", 1);
  // The starter and its ranks inherit the variables of one rank: the starter is that rank for the environment.
  running_starter starter({"checked", "--hold"});
  for (const char* name : {"MASTER_ADDR", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  starter.ready();
  const auto source_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {MPIACQ_COMMAND, "stacks", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(std::to_string(starter.pid()));
    const auto run = run_command(words);
    INFO(run.err);
    REQUIRE(!run.out.empty());
    const json report = json::parse(run.out);
    return report.at("source").get<std::string>() + " " + std::to_string(report.at("ranks").size());
  };
  CHECK(source_of({"--source", "environment"}) == "environment 1");
  CHECK(source_of({"--source", "mpir"}) == "mpir " + std::to_string(starter.ranks().size()));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

namespace {

/// A shell that starts `steps` processes, each in a step of its own of the Slurm job and as rank 0 of 2. Tests that run
/// at the same time need jobs of their own.
live_process slurm_ranks(const char* job, int steps) {
  return live_process({"sh", "-c",
                       std::string("exec 3<&0; export SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 SLURM_JOB_ID=") + job +
                           "; for s in $(seq 0 " + std::to_string(steps - 1) +
                           "); do exec env SLURM_STEP_ID=$s sh -c 'echo $$; exec cat <&3 >/dev/null' & done; wait"});
}

}  // namespace

TEST_CASE("slurm:ID: the ranks of a step are found where no srun runs") {
  auto job = slurm_ranks("4711", 1);
  const auto rank = job.next_line();
  REQUIRE(rank);
  for (const char* named : {"slurm:4711", "slurm:4711.0"}) {
    const auto run = run_command({MPIACQ_COMMAND, "stacks", "--json", named});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    const json report = json::parse(run.out);
    CHECK(report.at("source") == "environment");
    CHECK(report.at("launcher") == "slurm");
    REQUIRE(report.at("ranks").size() == 1);
    CHECK(report.at("ranks").at(0).at("pid") == std::stol(*rank));
  }
  const auto attached_to = run_command({MPIACQ_COMMAND, "attach", "--json", "slurm:4711"});
  CHECK(attached_to.exit_code == 0);
  CHECK(json::parse(attached_to.out).at("processes").at(0).at("pid") == std::stol(*rank));
}

TEST_CASE("slurm:ID: a job that is not here is an error that says where to ask") {
  auto job = slurm_ranks("4713", 1);
  REQUIRE(job.next_line());
  const auto run = run_command({MPIACQ_COMMAND, "stacks", "slurm:4799"});
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("belongs to job 4799 of Slurm (there are processes of "));
  CHECK_THAT(run.err, ContainsSubstring("4713.0"));
  CHECK_THAT(run.err, ContainsSubstring("squeue"));
  const auto step = run_command({MPIACQ_COMMAND, "queues", "slurm:4713.9"});
  CHECK(step.exit_code == 125);
  CHECK_THAT(step.err, ContainsSubstring("belongs to step 4713.9 of Slurm"));
}

TEST_CASE("slurm:ID: a job with several steps here is not guessed at") {
  auto job = slurm_ranks("4715", 2);
  REQUIRE(job.next_line());
  REQUIRE(job.next_line());
  const auto run = run_command({MPIACQ_COMMAND, "attach", "slurm:4715"});
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("4715 of Slurm is 2 jobs on this node"));
  CHECK_THAT(run.err, ContainsSubstring("4715.1 (process "));
  CHECK(run_command({MPIACQ_COMMAND, "stacks", "slurm:4715.1"}).exit_code == 0);
}

TEST_CASE("slurm:ID: what is no number of a job is refused before anything is looked at") {
  for (const char* word : {"slurm:", "slurm:x", "slurm:0", "slurm:4294967296", "slurm:1.", "slurm:1.x", "slurm:-1",
                           "slurm:1.2.3", "slurm:1 ", "Slurm:1"}) {
    const auto run = run_command({MPIACQ_COMMAND, "stacks", word});
    INFO(word);
    CHECK(run.exit_code == 125);
    CHECK_THAT(run.err, ContainsSubstring("not the number of a Slurm job"));
  }
}
