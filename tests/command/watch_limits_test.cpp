// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch: reports before a batch system's limit and on a signal, and how long ranks have been where they are.
#include <csignal>
#include <ctime>
#include <filesystem>

#include "catch.hpp"
#include "launched.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> limits_line(std::vector<std::string> options, const queue_job& job) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "watch", "--trust-library"});
  options.push_back(std::to_string(job.pid()));
  return options;
}

command_options patient() {
  command_options how;
  how.limit = std::chrono::seconds(120);
  return how;
}

std::string line_count(const std::string& text) {
  return std::to_string(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("watch: a job is reported shortly before the batch system's limit, and ended with one line") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  command_options how = patient();
  how.environment["SLURM_JOB_ID"] = "42";
  how.environment["SLURM_JOB_END_TIME"] = std::to_string(std::time(nullptr) + 6);
  const auto run =
      run_command(limits_line({"--timeout", "auto", "--report", folder.path("reports"), "--then", "kill"}, job), how);
  INFO(run.err);
  CHECK(run.exit_code == 124);
  CHECK(run.err.starts_with("mpiacq: 0."));  // a twentieth of less than 6 seconds
  CHECK_THAT(run.err, ContainsSubstring(" s before the time limit of Slurm job 42: deadlock: 0 -> 1 -> 0"));
  CHECK(line_count(run.err) == "1");
  CHECK(json::parse(file_contents(folder.path("reports") + "/report.json")).at("why") == "timeout");
}

TEST_CASE("watch: without a batch system's limit the starter does not run") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  const auto run = run_command({"env", "-u", "SLURM_JOB_ID", "-u", "PBS_JOBID", "-u", "FLUX_JOB_ID", MPIACQ_COMMAND,
                                "watch", "--timeout", "auto", "--", "touch", mark});
  INFO(run.err);
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("SLURM_JOB_ID, PBS_JOBID and FLUX_JOB_ID"));
  CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("watch: a signal asks for a report, and other signals keep their meaning") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string page = folder.path("reports") + "/report.html";
  running_command watcher(limits_line({"--report-on", "USR1", "--report", folder.path("reports")}, job), patient());
  // The folder is there as soon as mpiacq handles signals; before, SIGUSR1 would end it.
  REQUIRE(comes_true([&] {
    const std::string status = file_contents("/proc/" + std::to_string(watcher.pid()) + "/status");
    const std::size_t caught = status.find("SigCgt:");
    return caught != std::string::npos &&
           (std::stoull(status.substr(caught + 7), nullptr, 16) >> (SIGUSR1 - 1) & 1) != 0;
  }));
  ::kill(watcher.pid(), SIGUSR1);
  REQUIRE(comes_true([&] { return std::filesystem::exists(page); }));
  CHECK(json::parse(file_contents(folder.path("reports") + "/report.json")).at("why") == "asked");
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  // A second one makes a second report.
  std::filesystem::remove(page);
  ::kill(watcher.pid(), SIGUSR1);
  REQUIRE(comes_true([&] { return std::filesystem::exists(page); }));
  ::kill(watcher.pid(), SIGTERM);
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 128 + SIGTERM);
  CHECK(run.err.starts_with("mpiacq: asked by a signal: deadlock: "));
}

TEST_CASE("watch: a signal that asks for a report does not reach the starter, another one does") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  // Catches both signals, and ends by the second.
  const std::string body = "trap 'echo usr1 >> " + mark + "' USR1; trap 'echo usr2 >> " + mark +
                           "; exit 5' USR2; touch " + folder.path("ready") + "; while :; do sleep 0.05; done";
  running_command watcher({MPIACQ_COMMAND, "watch", "--report-on", "USR1", "--", "sh", "-c", body}, patient());
  REQUIRE(comes_true([&] { return std::filesystem::exists(folder.path("ready")); }));
  ::kill(watcher.pid(), SIGUSR1);
  ::kill(watcher.pid(), SIGUSR2);
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 5);
  CHECK(file_contents(mark) == "usr2\n");
}

TEST_CASE("watch: with samples the report says for how long each rank has been where it is") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const auto run = run_command(
      limits_line({"--timeout", "2", "--every", "0.3", "--report", folder.path("reports"), "--then", "kill"}, job),
      patient());
  INFO(run.err);
  CHECK(run.exit_code == 124);
  const json history = json::parse(file_contents(folder.path("reports") + "/report.json")).at("history");
  INFO(history.dump(1));
  CHECK(history.at("every_seconds") == 0.3);
  REQUIRE(history.at("stays").size() == 1);
  const json& stay = history.at("stays").front();
  CHECK(stay.at("ranks") == "0-1");
  CHECK(stay.at("call") == "MPI_Recv");
  CHECK(stay.at("at").at("line").is_number());
  CHECK(stay.at("since_first") == true);
  CHECK(stay.at("samples") == history.at("samples").size());
  CHECK(history.at("samples").size() >= 2);
  CHECK(history.at("samples").size() <= 20);
  CHECK(stay.at("seconds") == history.at("samples").front().at("seconds_before_last"));
  for (const char* form : {"/report.txt", "/report.html"}) {
    CHECK_THAT(
        file_contents(folder.path("reports") + form),
        ContainsSubstring("ranks 0-1: in MPI_Recv at mpi_calls.c:") && ContainsSubstring(", all that there are\n"));
  }
}

TEST_CASE("watch: without samples a report has no history") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  (void)run_command(limits_line({"--timeout", "1", "--report", folder.path("reports"), "--then", "kill"}, job),
                    patient());
  CHECK(json::parse(file_contents(folder.path("reports") + "/report.json")).at("history").is_null());
  CHECK(file_contents(folder.path("reports") + "/report.txt").find("how long") == std::string::npos);
}
