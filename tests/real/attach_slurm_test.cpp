// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq attach on the distribution's srun, while its job runs on two nodes.
#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>

#include "attached_job.hpp"
#include "live_cluster.hpp"
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

const std::string srun = "/srun";  // its symbols are in the program itself
const std::vector<std::string> exits_with_3 = {"--exit", "3"};

std::vector<std::string> srun_line(const std::vector<std::string>& application = {}) {
  std::vector<std::string> line = {"srun", "-N2", "-n4", "--overcommit", rank_program("plain_pids")};
  line.insert(line.end(), application.begin(), application.end());
  return line;
}

}  // namespace

TEST_CASE("Slurm: attach lists what the tasks print, by srun or by a task, and leaves the job unharmed", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  running_job job(srun_line(exits_with_3), 4);
  INFO(job.out());
  REQUIRE(job.ranks().size() == 4);
  const std::string image = image_of(job.pid(), srun);
  REQUIRE_FALSE(image.empty());

  const auto run = attach_json({}, job.pid_text());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err == "");
  const json report = json::parse(run.out);
  CHECK(report.at("event") == "attached");
  CHECK(report.at("starter").at("pid") == job.pid());
  CHECK(report.at("starter").at("job_id") == "1");
  CHECK(report.at("problems").empty());
  CHECK(pids_reported(report) == job.ranks());
  for (const json& process : report.at("processes")) {
    CHECK(process.at("state") == "running");
    CHECK(process.at("host") == (process.at("rank") < 2 ? "n1" : "n2"));
  }

  // A task's parents are its node's daemons; only srun's table leads to srun.
  const std::string task = std::to_string(job.ranks().at(3));
  const auto by_task = attach_json({}, task);
  INFO(by_task.err);
  REQUIRE(by_task.exit_code == 0);
  const json same = json::parse(by_task.out);
  CHECK(pids_reported(same) == job.ranks());
  CHECK(same.at("starter").at("pid") == job.pid());
  const std::string found_how = same.at("starter").at("found_how");
  CHECK_THAT(found_how, ContainsSubstring(task + " ("));
  CHECK_THAT(found_how, ContainsSubstring("attached to " + job.pid_text() + " ("));
  CHECK_THAT(found_how, ContainsSubstring("as rank 3"));

  const auto daemons = attach_json({"--daemon", rank_program("tool_daemon"), "--daemon-arg", "x"}, job.pid_text());
  CHECK(daemons.exit_code == 125);
  CHECK_THAT(daemons.err, ContainsSubstring("it has no MPIR_executable_path and MPIR_server_arguments"));
  CHECK(pids_reported(json::parse(daemons.out)) == job.ranks());
  CHECK(json::parse(daemons.out).at("facts").at("daemons") == "refused");

  CHECK(image_of(job.pid(), srun) == image);
  CHECK(int_of_symbol(job.pid(), srun, "MPIR_being_debugged") == 0);
  CHECK(job.disturbed() == "");
  check_its_own_end(job);
}

TEST_CASE("Slurm: attach and then stop, continue and kill", "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  running_job job(srun_line(exits_with_3), 4);
  INFO(job.out());
  REQUIRE(job.ranks().size() == 4);

  const auto stopped = attach_json({"--then", "stop", "--ranks", "0,3"}, job.pid_text());
  INFO(stopped.err);
  REQUIRE(stopped.exit_code == 0);
  CHECK(states_reported(json::parse(stopped.out)) ==
        std::map<long, std::string>{{0, "held"}, {1, "running"}, {2, "running"}, {3, "held"}});
  CHECK(comes_true([&] { return is_stopped(job.pid()); }));
  CHECK(ranks_stopped(job.ranks(), 2) == std::set<long>{0, 3});
  continue_all(job);
  CHECK(job.disturbed() == "");

  const staying_attach staying(job);
  check_its_own_end(job);
  staying.check_end();

  running_job doomed(srun_line(), 4);
  INFO(doomed.out());
  REQUIRE(doomed.ranks().size() == 4);
  const auto killed = attach_json({"--then", "kill"}, doomed.pid_text());
  INFO(killed.err);
  CHECK_FALSE(killed.timed_out);
  CHECK(killed.exit_code == 0);
  const job_end doom = doomed.wait();
  CHECK_FALSE(doom.timed_out);
  CHECK(doom.as_shell() != 0);
  CHECK_THAT(killed.err, ContainsSubstring("ended: "));
  check_ranks_are_gone(doomed);
}

TEST_CASE("Slurm: tasks that srun holds at their launch stay held for the next tool, until srun releases them",
          "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  if (srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  const scratch_folder folder;
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json",  "-o", folder.path("report"),
                                   "--then",       "stop",   "--ranks", "1",  "--"};
  for (const std::string& word : srun_line(exits_with_3)) line.push_back(word);
  const pid_t tool = start_process(line, folder.path("said"));
  REQUIRE(comes_true([&] { return file_contents(folder.path("said")).find("left stopped") != std::string::npos; }));
  const json launched = json::parse(file_contents(folder.path("report")));
  const std::string starter = std::to_string(launched.at("starter").at("pid").get<long>());
  // All four are stopped by Slurm; one of them was held by us as well. Slurm lets each go into its SIGSTOP, so one that
  // has not run since is still on its way there when the report is made.
  auto states = states_reported(launched);
  CHECK(states[1] == "held");
  states.erase(1);
  for (const auto& [rank, state] : states) {
    INFO("rank " << rank << " is " << state);
    CHECK((state == "stopped" || state == "running"));
  }
  CHECK(states.size() == 3);
  const auto tasks = pids_reported(launched);
  const std::set<long> all_four = {0, 1, 2, 3};
  CHECK(ranks_stopped(tasks, 4) == all_four);
  CHECK(comes_true([&] { return is_stopped(std::atol(starter.c_str())); }));

  const auto looked = attach_json({}, starter);
  INFO(looked.err);
  CHECK(looked.exit_code == 0);
  const json seen = json::parse(looked.out);
  CHECK(pids_reported(seen) == tasks);
  CHECK(states_reported(seen) ==
        std::map<long, std::string>{{0, "stopped"}, {1, "stopped"}, {2, "stopped"}, {3, "stopped"}});
  CHECK(ranks_stopped(tasks, 4) == all_four);
  const auto held = attach_json({"--then", "stop"}, starter);
  INFO(held.err);
  CHECK(held.exit_code == 0);
  CHECK(ranks_stopped(tasks, 4) == all_four);
  CHECK(comes_true([&] { return is_stopped(std::atol(starter.c_str())); }));

  ::kill(std::atoi(starter.c_str()), SIGCONT);
  int status = 0;
  REQUIRE(wait_for_process(tool, status, patience));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(pids_printed(file_contents(folder.path("said"))) == tasks);
}
