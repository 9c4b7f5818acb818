// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is launched is not the starter but something that runs it. The oracle is what the starter itself wrote down, and
// what a shell would see of the wrapper.
#include <fstream>

#include <sys/stat.h>

#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// Runs `mpiacq launch` on a command line that leads to a starter in the end.
launched launch_words(const std::vector<std::string>& words, const std::vector<std::string>& options = {}) {
  const scratch_folder folder;
  command_options how;
  how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
  std::vector<std::string> command = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report")};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), words.begin(), words.end());
  launched result;
  result.command = run_command(command, how);
  result.report_text = file_contents(folder.path("report"));
  if (!result.report_text.empty()) result.report = json::parse(result.report_text);
  result.oracle = read_oracle(folder.path("oracle"));
  return result;
}

/// The table is the starter's own, and the starter was told of and let go of in the right way.
void check_job(const launched& run) {
  INFO(run.command.err);
  REQUIRE(run.report.is_object());
  CHECK(std::to_string(run.report.at("starter").at("pid").get<long>()) == run.said("starter_pid"));
  const json& processes = run.report.at("processes");
  REQUIRE(processes.size() == std::stoul(run.said("table_size")));
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    CHECK(std::to_string(processes[i].at("pid").get<long>()) == run.said(rank + ".pid"));
    CHECK(run.said(rank + ".wait_status") == "0x0");
  }
  CHECK(run.said("announcement.1.being_debugged_after") == "1");
}

std::vector<std::string> behind(std::vector<std::string> wrapper, const std::vector<std::string>& starter) {
  wrapper.insert(wrapper.end(), starter.begin(), starter.end());
  return wrapper;
}

const std::string runs_it = "\"$@\"; s=$?; echo the wrapper goes on; exit $s";

}  // namespace

TEST_CASE("a wrapper that runs the starter as a child is followed, and mpiacq ends with the wrapper's status") {
  const auto wrapper = GENERATE(values<std::vector<std::string>>({
      {fixture("wrapper"), "fork"},
      {"sh", "-c", runs_it, "sh"},
      {"sh", "-c", "sh -c '" + runs_it + "' sh \"$@\"", "sh"},
      {"timeout", "60"},
      {"sh", "-c", "\"$@\" & wait $!", "sh"},
      {"env", "sh", "-c", "(\"$@\")", "sh"},
  }));
  const auto run = launch_words(behind(wrapper, {fixture("starter_stripped"), "--exit", "6"}));
  check_job(run);
  CHECK(run.command.exit_code == 6);
  CHECK_THAT(run.report.at("starter").at("found_how").get<std::string>(),
             ContainsSubstring("the starter is process " + run.said("starter_pid")));
}

TEST_CASE("a wrapper that becomes the starter is the starter") {
  const auto wrapper = GENERATE(values<std::vector<std::string>>({
      {fixture("wrapper"), "exec"},
      {fixture("wrapper"), "thread"},
      {"env", "A=b"},
      {"sh", "-c", "exec \"$@\"", "sh"},
      {"nice", "-n", "1"},
  }));
  const auto run = launch_words(behind(wrapper, {fixture("starter_pie"), "--exit", "5"}));
  check_job(run);
  CHECK(run.command.exit_code == 5);
  CHECK(run.report.at("starter").at("found_how").is_null());
}

TEST_CASE("Python as a wrapper is followed") {
  if (run_command({"python3", "-c", ""}).exit_code != 0) MPIACQ_SKIP("python3 is not installed");
  const auto run = launch_words({"python3", "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))",
                                 fixture("starter_pie"), "--exit", "9"});
  check_job(run);
  CHECK(run.command.exit_code == 9);
}

TEST_CASE("a script is followed as libtool's are") {
  const scratch_folder folder;
  const std::string script = folder.path("mpirun");
  std::ofstream(script) << "#! /bin/sh\n# mpirun - temporary wrapper script\n"
                           "func_exec_program () { exec \"$program\" ${1+\"$@\"}; }\n"
                           "program='" +
                               fixture("starter_library") + "'\nfunc_exec_program ${1+\"$@\"}\n";
  REQUIRE(::chmod(script.c_str(), 0755) == 0);
  const auto run = launch_words({script, "--exit", "3"});
  check_job(run);
  CHECK(run.command.exit_code == 3);
}

TEST_CASE("programs that have the interface and do not spawn are skipped before the starter") {
  const std::string decoy = "MPIACQ_ORACLE= " + fixture("starter_never_spawns") + "; ";
  const auto run = launch_words({"sh", "-c", decoy + runs_it, "sh", fixture("starter_pie"), "--exit", "2"});
  check_job(run);
  CHECK(run.command.exit_code == 2);
}

TEST_CASE("programs that the wrapper starts beside the starter are released and end as they would") {
  const scratch_folder folder;
  const std::string script = "(sleep 0.3; echo $? > " + folder.path("aside") + ") & \"$@\"; s=$?; wait; exit $s";
  const auto run = launch_words({"sh", "-c", script, "sh", fixture("starter_pie"), "--exit", "1"});
  check_job(run);
  CHECK(run.command.exit_code == 1);
  CHECK(file_contents(folder.path("aside")) == "0\n");
}

TEST_CASE("a starter whose wrapper has ended before the spawn is reported") {
  const auto run = launch_words({"sh", "-c", "(sleep 0.2; exec \"$@\") & exit 4", "sh", fixture("starter_pie")});
  check_job(run);
  CHECK(run.command.exit_code == 4);
}

TEST_CASE("a wrapper that starts no starter ends mpiacq with a sentence and without harm") {
  const auto run = launch_words({"sh", "-c", "true; ls / > /dev/null; exit 0"});
  CHECK(run.report_text.empty());
  CHECK(run.command.exit_code == 125);
  CHECK_THAT(run.command.err, ContainsSubstring("without having reported any processes"));
}

TEST_CASE("a wrapper that mpiacq gives up on runs on with everything that it started") {
  const scratch_folder folder;
  const std::string script = "sleep 1; echo $? > " + folder.path("slept") + "; exit 7";
  const auto run = launch_words({"sh", "-c", script}, {"--timeout", "0.2"});
  CHECK(run.command.exit_code == 125);
  CHECK(comes_true([&] { return file_contents(folder.path("slept")) == "0\n"; }));
}

TEST_CASE("then stop and kill mean the starter, wherever it is") {
  const auto stopped = launch_words({fixture("wrapper"), "fork", fixture("starter_pie")}, {"--then", "kill"});
  REQUIRE(stopped.report.is_object());
  const long starter = stopped.report.at("starter").at("pid").get<long>();
  CHECK(std::to_string(starter) == stopped.said("starter_pid"));
  CHECK(comes_true([&] { return process_state(starter) == ' ' || process_state(starter) == 'Z'; }));
}
