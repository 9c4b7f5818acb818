// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch on fixture jobs: when it reports, what it leaves behind, and its exit status.
#include <algorithm>
#include <filesystem>

#include "catch.hpp"
#include "launched.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> watch_line(std::vector<std::string> options, const queue_job& job) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "watch", "--trust-library"});
  options.push_back(std::to_string(job.pid()));
  return options;
}

command_outcome watch(std::vector<std::string> options, const queue_job& job) {
  command_options how;
  how.limit = std::chrono::seconds(120);
  return run_command(watch_line(std::move(options), job), how);
}

json report_in(const std::string& folder) {
  return json::parse(file_contents(folder + "/report.json"));
}

}  // namespace

TEST_CASE("watch: a job that stands still is reported once, ended, and gives the status 124") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  const auto run = watch({"--hang", "1", "--report", reports, "--then", "kill"}, job);
  INFO(run.err);
  CHECK(run.exit_code == 124);
  CHECK(run.out.empty());
  CHECK(run.err.starts_with("mpiacq: no rank has moved for "));
  CHECK_THAT(run.err, ContainsSubstring("deadlock: 0 -> 1 -> 0 wait for each other") &&
                          ContainsSubstring("(report in " + reports + ")"));
  const json report = report_in(reports);
  CHECK(report.at("schema") == "mpiacq.report/1");
  CHECK(report.at("why") == "hang");
  CHECK(report.at("verdict").at("basis") == "deadlock");
  CHECK(file_contents(reports + "/report.txt").starts_with("mpiacq: deadlock: "));
  CHECK(file_contents(reports + "/report.html").ends_with("</html>\n"));
  CHECK(std::distance(std::filesystem::directory_iterator(reports), {}) == 3);
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return process_state(rank) == ' '; }));
}

TEST_CASE("watch: a job that has run for too long is reported, and goes on if nothing else is asked for") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  running_command watcher(watch_line({"--timeout", "1", "--report", folder.path("reports")}, job), {});
  REQUIRE(comes_true([&] { return std::filesystem::exists(folder.path("reports") + "/report.html"); }));
  CHECK(report_in(folder.path("reports")).at("why") == "timeout");
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  // It ends with the job.
  job.end();
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err.starts_with("mpiacq: watched for 1 s: deadlock: "));
}

TEST_CASE("watch: without a folder the report goes to standard error, and the job can be left stopped") {
  queue_job job(2, words_of_a_deadlock());
  const auto run = watch({"--hang", "1", "--then", "stop"}, job);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, ContainsSubstring("mpiacq: deadlock: 0 -> 1 -> 0") && ContainsSubstring("who waits for whom\n"));
  for (const pid_t rank : job.ranks()) CHECK(comes_to_be_left_stopped(rank));
}

TEST_CASE("watch: a starter that it launches keeps its output and its exit status") {
  const auto run = run_command({MPIACQ_COMMAND, "watch", "--hang", "600", "--", fixture("checked")});
  const auto alone = run_command({fixture("checked")});
  INFO(run.err);
  CHECK(run.exit_code == alone.exit_code);
  CHECK(std::count(run.out.begin(), run.out.end(), '\n') == std::count(alone.out.begin(), alone.out.end(), '\n'));
  CHECK(run.err.empty());
  CHECK(run_command({MPIACQ_COMMAND, "watch", "--hang", "600", "--", "sh", "-c", "exit 7"}).exit_code == 7);
  CHECK(run_command({MPIACQ_COMMAND, "watch", "--hang", "600", "--", "/nowhere/starter"}).exit_code == 127);
}

TEST_CASE("watch: a folder that cannot be written to is reported before the starter runs") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  const auto run =
      run_command({MPIACQ_COMMAND, "watch", "--hang", "1", "--report", "/proc/reports", "--", "touch", mark});
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("making the folder /proc/reports for reports"));
  CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("watch: it refuses what makes no sense") {
  for (const auto& [words, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--", "true"}, "nothing to watch for"},
           {{"--hang", "1", "42", "--", "true"}, "exclude each other"},
           {{"--hang", "0", "--", "true"}, "--hang"},
           {{"--hang", "1", "--then", "detach", "--", "true"}, "detach"}}) {
    std::vector<std::string> line = {MPIACQ_COMMAND, "watch"};
    line.insert(line.end(), words.begin(), words.end());
    const auto run = run_command(line);
    INFO(run.err);
    CHECK(run.exit_code == 125);
    CHECK_THAT(run.err, ContainsSubstring(part));
  }
}
