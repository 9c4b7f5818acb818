// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq launch and attach on starters without an interface: a shell that starts processes with the variables of
// torchrun. What the ranks print of themselves is what must come out.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <poll.h>

#include "attached.hpp"
#include "catch.hpp"
#include "launched.hpp"
#include "lines_of.hpp"
#include "variables_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// A shell script that starts `ranks` processes with the variables of torchrun, each of which runs `rank`, and that
/// ends with 7. `here`: how many ranks it says that it starts on this node; 0: it does not say.
std::vector<std::string> shell_launcher(int ranks, int size, int here, const std::string& rank) {
  const std::string counted = here == 0 ? "" : " LOCAL_WORLD_SIZE=" + std::to_string(here);
  return {"sh", "-c",
          "export MASTER_ADDR=n1 MASTER_PORT=$$ WORLD_SIZE=" + std::to_string(size) + counted + "; for r in $(seq 0 " +
              std::to_string(ranks - 1) + "); do RANK=$r sh -c '" + rank + "' & done; wait; exit 7"};
}

struct launched_job {
  command_outcome command;
  json report;
  /// By rank, what each rank printed of itself.
  std::map<long, long> printed;
};

launched_job launch_shell(const std::vector<std::string>& starter, const std::vector<std::string>& options = {}) {
  const scratch_folder folder;
  std::vector<std::string> words = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report.json")};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), starter.begin(), starter.end());
  launched_job job{run_command(words), nullptr, {}};
  const std::string text = file_contents(folder.path("report.json"));
  if (!text.empty()) job.report = json::parse(text);
  std::istringstream lines(job.command.out);
  long rank = 0, pid = 0;
  for (std::string word; lines >> word >> rank >> pid;) job.printed[rank] = pid;
  return job;
}

std::map<long, long> pids_by_rank(const json& report) {
  std::map<long, long> pids;
  for (const json& one : report.at("processes")) pids[one.at("rank")] = one.at("pid");
  return pids;
}

std::string problems_of(const json& report) {
  std::string all;
  for (const json& one : report.at("problems")) all += one.get<std::string>() + "\n";
  return all;
}

/// A script that starts a process named ssh to each host, which sleeps for so long, and that ends with 5.
std::string launcher_by_ssh(const scratch_folder& folder, const std::vector<std::string>& hosts, double seconds,
                            const std::string& name = "mpiexec.hydra") {
  std::ofstream script(folder.path(name));
  script << "#!/bin/bash\n";
  for (const std::string& host : hosts) {
    script << "(exec -a ssh sh -c 'sleep " << seconds << "' " << host << " hydra_pmi_proxy) &\n";
  }
  script << "wait\nexit 5\n";
  script.close();
  std::filesystem::permissions(folder.path(name), std::filesystem::perms::owner_all);
  return folder.path(name);
}

const std::string prints_itself = "echo rank $RANK $$";

}  // namespace

TEST_CASE("launch without an interface: all ranks are reported before main, and streams and status are the starter's") {
  const int ranks = GENERATE(1, 4, 32);
  const auto job = launch_shell(shell_launcher(ranks, ranks, ranks, prints_itself));
  INFO(job.command.err);
  CHECK(job.command.exit_code == 7);
  CHECK(without_waiting_notice(job.command.err) == "");
  CHECK(job.printed.size() == static_cast<std::size_t>(ranks));
  REQUIRE_FALSE(job.report.is_null());
  CHECK(job.report.at("source") == "environment");
  CHECK(job.report.at("launcher") == "torchrun");
  CHECK(job.report.at("event") == "spawned");
  CHECK(job.report.at("starter").at("mode") == "launch");
  CHECK(job.report.at("problems").empty());
  CHECK(pids_by_rank(job.report) == job.printed);
  for (const json& one : job.report.at("processes")) {
    CHECK(one.at("state") == "held");
    CHECK(one.at("facts") == json::array({"acquired_pre_main"}));
  }
}

TEST_CASE("launch without an interface: ranks on other nodes are named and not waited for") {
  const auto job = launch_shell(shell_launcher(2, 8, 2, prints_itself));
  CHECK(job.command.exit_code == 7);
  REQUIRE_FALSE(job.report.is_null());
  CHECK(pids_by_rank(job.report) == job.printed);
  CHECK_THAT(problems_of(job.report), ContainsSubstring("ranks 2-7 are not among the processes of this node"));
}

TEST_CASE("launch without an interface: a job on other nodes alone ends with a notice that names their hosts") {
  const scratch_folder folder;
  const std::string launcher = launcher_by_ssh(folder, {"n2", "n3", "n2"}, 0.3);
  const auto job = launch_shell({launcher});
  INFO(job.command.err);
  CHECK(job.command.exit_code == 5);
  CHECK(job.report.is_null());
  CHECK_THAT(job.command.err, ContainsSubstring("has seen no rank of the job on this node"));
  CHECK_THAT(job.command.err, ContainsSubstring("has started ssh to n2, n3; attach to the job on one of these hosts"));
  CHECK_THAT(job.command.err, ContainsSubstring("name its hosts (--hosts A,B,C)"));
}

TEST_CASE("launch without an interface: launch says once, while the job runs, that it has no rank on this node") {
  const scratch_folder folder;
  running_command run({MPIACQ_COMMAND, "launch", "--", launcher_by_ssh(folder, {"n2"}, 14)});
  REQUIRE(run.complains("has started ssh to n2; attach"));
  CHECK(runs_freely(run.pid()));
  const auto end = run.wait();
  CHECK(end.exit_code == 5);
  const auto first = end.err.find("has started ssh");
  CHECK(end.err.find("has started ssh", first + 1) == std::string::npos);
}

TEST_CASE("launch without an interface: ssh that no launcher has started says nothing of ranks") {
  const scratch_folder folder;
  const std::string script = launcher_by_ssh(folder, {"n2"}, 0.1, "job_script");
  const auto job = launch_shell({script});
  CHECK(job.command.exit_code == 5);
  CHECK_THAT(job.command.err, !ContainsSubstring("n2"));
}

TEST_CASE("launch without an interface: ranks whose number is not stated are reported when no more have come") {
  const auto job = launch_shell(shell_launcher(3, 8, 0, prints_itself + "; sleep 3"));
  CHECK(job.command.exit_code == 7);
  REQUIRE_FALSE(job.report.is_null());
  CHECK(pids_by_rank(job.report) == job.printed);
  for (const json& one : job.report.at("processes")) CHECK(one.at("state") == "running");
}

TEST_CASE("launch without an interface: ranks that never come are no reason to hold the others for ever") {
  const auto job = launch_shell(shell_launcher(2, 3, 3, prints_itself));
  INFO(job.command.err);
  // The ranks ran on by themselves, so that the starter has ended.
  CHECK(job.command.exit_code == 7);
  CHECK(job.printed.size() == 2);
  CHECK(job.report.is_null());
  CHECK_THAT(job.command.err, ContainsSubstring("ended before all ranks had appeared: 2 had started"));
  CHECK_THAT(job.command.err, ContainsSubstring("rank 2 is not among the processes of this node"));
}

TEST_CASE("launch without an interface: --then stop leaves the ranks before their first instruction") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  const auto starter = shell_launcher(2, 2, 2, "echo >>" + mark + "; " + prints_itself);
  std::vector<std::string> words = {MPIACQ_COMMAND,        "launch", "--json", "-o",
                                    folder.path("report"), "--then", "stop",   "--"};
  words.insert(words.end(), starter.begin(), starter.end());
  running_command run(words);
  REQUIRE(run.complains("are left stopped, and the starter runs"));
  const json report = json::parse(file_contents(folder.path("report")));
  REQUIRE(report.at("processes").size() == 2);
  CHECK_FALSE(std::filesystem::exists(mark));
  for (const auto& [rank, pid] : pids_by_rank(report)) {
    CHECK(comes_to_be_left_stopped(static_cast<pid_t>(pid)));
    ::kill(static_cast<pid_t>(pid), SIGCONT);
  }
  CHECK(run.wait().exit_code == 7);
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("launch without an interface: --then stop stops the chosen ranks alone") {
  const scratch_folder folder;
  const auto starter = shell_launcher(2, 2, 2, prints_itself);
  std::vector<std::string> words = {MPIACQ_COMMAND, "launch", "--json",  "-o", folder.path("report"),
                                    "--then",       "stop",   "--ranks", "1",  "--"};
  words.insert(words.end(), starter.begin(), starter.end());
  running_command run(words);
  REQUIRE(run.complains("are left stopped, and the starter runs"));
  const auto pids = pids_by_rank(json::parse(file_contents(folder.path("report"))));
  REQUIRE(pids.size() == 2);
  CHECK(comes_to_be_left_stopped(static_cast<pid_t>(pids.at(1))));
  CHECK(comes_true([&] { return !std::filesystem::exists("/proc/" + std::to_string(pids.at(0))); }));
  ::kill(static_cast<pid_t>(pids.at(1)), SIGCONT);
  CHECK(run.wait().exit_code == 7);
}

TEST_CASE("launch without an interface: --then kill ends the starter, and detach lets the job run") {
  const auto killed = launch_shell(shell_launcher(2, 2, 2, "exec sleep 600"), {"--then", "kill"});
  CHECK(killed.command.exit_code == 128 + SIGTERM);
  for (const auto& [rank, pid] : pids_by_rank(killed.report)) {
    CHECK(comes_true([p = pid] { return !std::filesystem::exists("/proc/" + std::to_string(p)); }));
  }
  const auto detached = launch_shell(shell_launcher(2, 2, 2, prints_itself), {"--then", "detach"});
  CHECK(detached.command.exit_code == 7);
  CHECK(pids_by_rank(detached.report) == detached.printed);
}

TEST_CASE("launch without an interface: stacks and commands for each rank") {
  const auto job = launch_shell(shell_launcher(2, 2, 2, prints_itself + "; sleep 1"),
                                {"--stacks", "--each", "echo of {rank} {pid} >&2"});
  INFO(job.command.err);
  CHECK(job.command.exit_code == 7);
  REQUIRE(job.report.at("stacks").at("ranks").size() == 2);
  for (const json& one : job.report.at("stacks").at("ranks")) CHECK(one.at("outcome") == "taken");
  for (const auto& [rank, pid] : job.printed) {
    CHECK_THAT(job.command.err, ContainsSubstring("of " + std::to_string(rank) + " " + std::to_string(pid)));
  }
}

TEST_CASE("launch without an interface: nothing is traced after the report") {
  const scratch_folder folder;
  const std::string traced = "while [ ! -s " + folder.path("report") +
                             " ]; do sleep 0.1; done; sleep 0.3; grep -h TracerPid /proc/$$/status /proc/$PPID/status";
  const auto starter = shell_launcher(2, 2, 2, traced);
  std::vector<std::string> words = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report"), "--"};
  words.insert(words.end(), starter.begin(), starter.end());
  const auto run = run_command(words);
  CHECK(run.exit_code == 7);
  CHECK(run.out == "TracerPid:\t0\nTracerPid:\t0\nTracerPid:\t0\nTracerPid:\t0\n");
}

TEST_CASE("launch without an interface: the death of the tool at any moment changes nothing") {
  // The ranks are started 20 ms apart, so that deaths come before, amid and after them.
  const int milliseconds = GENERATE(0, 15, 30, 45, 60, 80, 120, 200);
  const scratch_folder folder;
  const std::string script = "cd " + folder.path("") +
                             "; echo >begin; export MASTER_ADDR=n1 WORLD_SIZE=3 LOCAL_WORLD_SIZE=3; for r in 0 1 2; do "
                             "RANK=$r sh -c 'echo $RANK >>out' & sleep 0.02; done; wait; echo $? >end";
  running_command run({MPIACQ_COMMAND, "launch", "-o", folder.path("report"), "--", "sh", "-c", script});
  ::poll(nullptr, 0, milliseconds);
  ::kill(run.pid(), SIGKILL);
  // The job has the command's standard output: its end is the job's.
  (void)run.wait();
  if (!std::filesystem::exists(folder.path("begin"))) return;  // the tool died before the launch
  CHECK(file_contents(folder.path("end")) == "0\n");
  const std::string out = file_contents(folder.path("out"));
  CHECK(out.size() == 6);
  for (const char* rank : {"0", "1", "2"}) CHECK_THAT(out, ContainsSubstring(rank));
}

TEST_CASE("launch without an interface: --source environment takes it for a starter with a table, too") {
  ::setenv("MASTER_ADDR", "n1", 1);
  ::setenv("WORLD_SIZE", "1", 1);
  ::setenv("RANK", "0", 1);
  // Variables that the starter inherits say nothing of its ranks.
  const auto by_table = launch({"starter_pie"});
  for (const char* name : {"MASTER_ADDR", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  REQUIRE_FALSE(by_table.report.is_null());
  CHECK(by_table.report.at("source") == "mpir");
  const auto by_choice = launch_shell(shell_launcher(2, 2, 2, prints_itself), {"--source", "environment"});
  CHECK(by_choice.command.exit_code == 7);
  CHECK(pids_by_rank(by_choice.report) == by_choice.printed);
  const auto refused = launch_shell(shell_launcher(2, 2, 2, prints_itself), {"--source", "mpir"});
  CHECK(refused.command.exit_code == 7);
  CHECK(refused.printed.size() == 2);
  CHECK(refused.report.is_null());
}

TEST_CASE("attach without an interface: the job is reported and left as it was") {
  const variables_job job(3);
  for (const long named : {job.pid(), job.ranks().at(1)}) {
    const auto seen = attach(named);
    check_attached(seen, job.pid(), "environment");
    CHECK(pids_by_rank(seen.report) == job.ranks());
    for (const json& one : seen.report.at("processes")) {
      CHECK(one.at("state") == "running");
      CHECK(one.at("facts").empty());
    }
  }
  for (const auto& [rank, pid] : job.ranks()) CHECK(runs_freely(static_cast<pid_t>(pid)));
  CHECK(runs_freely(static_cast<pid_t>(job.pid())));
}

TEST_CASE("attach without an interface: ranks are held if asked, and only those") {
  const variables_job job(3);
  const auto seen = attach(job.pid(), {"--then", "stop", "--ranks", "0,2", "--stacks"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK_THAT(seen.command.err, ContainsSubstring("the ranks of this node are left stopped"));
  CHECK(seen.report.at("stacks").at("ranks").size() == 2);
  for (const auto& [rank, pid] : job.ranks())
    CHECK((rank == 1 ? runs_freely(static_cast<pid_t>(pid)) : comes_to_be_left_stopped(static_cast<pid_t>(pid))));
  CHECK(runs_freely(static_cast<pid_t>(job.pid())));
  for (const auto& [rank, pid] : job.ranks()) ::kill(static_cast<pid_t>(pid), SIGCONT);
  for (const auto& [rank, pid] : job.ranks()) {
    CHECK(comes_true([p = pid] { return runs_freely(static_cast<pid_t>(p)); }));
  }
}

TEST_CASE("attach without an interface: continue leaves the job, and kill needs a launcher that is known") {
  const variables_job job(2);
  const auto goes_on = attach(job.pid(), {"--then", "continue"});
  CHECK(goes_on.command.exit_code == 0);
  CHECK_THAT(goes_on.command.err, ContainsSubstring("announces no further events"));
  const auto killed = attach(job.pid(), {"--then", "kill"});
  CHECK(killed.command.exit_code == 125);
  CHECK_THAT(killed.command.err, ContainsSubstring("Nothing was ended"));
  for (const auto& [rank, pid] : job.ranks()) CHECK(runs_freely(static_cast<pid_t>(pid)));
}

TEST_CASE("attach without an interface: the report for people names the source") {
  const variables_job job(2);
  const auto run = run_command({MPIACQ_COMMAND, "attach", std::to_string(job.pid())});
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("has 2 processes on 1 host"));
  CHECK_THAT(run.out, ContainsSubstring("source: environment (the variables that torchrun sets for its ranks)"));
}
