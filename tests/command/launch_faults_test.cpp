// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Starters that die, lie or hang, and what --then and --timeout do.
#include <array>
#include <chrono>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"
#include "launched.hpp"
#include "running_starter.hpp"
#include "start_child.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

bool has_ended(const json& process) {
  const char state = process_state(process.at("pid").get<long>());
  return state == ' ' || state == 'Z';
}

/// mpiacq launch, with the starter's oracle.
pid_t started(std::vector<std::string> words, const std::string& oracle, child_start how = {}) {
  words.insert(words.begin(), {MPIACQ_COMMAND, "launch"});
  how.environment["MPIACQ_ORACLE"] = oracle;
  return start_child(std::move(words), how);
}

}  // namespace

TEST_CASE("a starter that dies before the breakpoint keeps its status, and mpiacq reports that it had no processes") {
  const launched exits = launch({"starter_dies", "before", "--exit", "5"});
  CHECK(exits.command.exit_code == 5);
  CHECK_THAT(exits.command.err, ContainsSubstring("without having reported any processes"));
  const launched killed = launch({"starter_dies", "before", "9"});
  CHECK(killed.command.exit_code == 128 + 9);
  CHECK(killed.report.is_null());
}

TEST_CASE("a starter that ends well without a spawn is a failure of the acquisition") {
  const launched run = launch({"starter_never_spawns"});
  CHECK(run.said("exit") == "0");
  CHECK(run.command.exit_code == 125);
  CHECK_THAT(run.command.err, ContainsSubstring("it never called MPIR_Breakpoint"));
}

TEST_CASE("the table of a starter that dies in, at or after the breakpoint is read, and its status is kept") {
  for (const std::string when : {"in", "stopped", "after"}) {
    INFO(when);
    const launched run = launch({"starter_dies", when, "9"});
    INFO(run.command.err);
    CHECK(run.command.exit_code == 128 + 9);
    if (when != "stopped") {
      REQUIRE(run.report.is_object());
      CHECK(run.report.at("processes").size() == 4);
    }
  }
  CHECK(launch({"starter_dies", "after", "--exit", "7"}).command.exit_code == 7);
  CHECK(launch({"starter_dies", "after", "11"}).command.exit_code == 128 + 11);
}

TEST_CASE("a table size that is negative or larger than memory costs nothing and is reported") {
  const launched negative = launch({"starter_table_at_edge", "--claim", "-1"});
  INFO(negative.command.err);
  CHECK(negative.command.exit_code == 0);
  CHECK_THAT(negative.command.err + negative.report_text, ContainsSubstring("-1"));
  if (negative.report.is_object()) CHECK(negative.report.at("processes").empty());

  for (const std::string claim : {"5", "2147483647"}) {
    INFO(claim);
    const launched run = launch({"starter_table_at_edge", "--claim", claim});
    INFO(run.command.err);
    CHECK(run.command.exit_code == 0);
    REQUIRE(run.report.is_object());
    REQUIRE(run.report.at("processes").size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(std::to_string(run.report.at("processes")[i].at("pid").get<long>()) ==
            run.said("rank." + std::to_string(i) + ".pid"));
    }
    CHECK_THAT(run.report.at("problems").dump(), ContainsSubstring(claim));
  }
}

TEST_CASE("the sentence about a starter without symbols gives its build id and what to do") {
  const launched run = launch({"starter_stripped_bare", "--exit", "0"});
  CHECK(run.said("exit") == "0");
  CHECK(run.said("being_debugged_at_start") == "0");
  CHECK(run.command.exit_code == 125);
  CHECK_THAT(run.command.err, ContainsSubstring("MPIR_Breakpoint"));
  CHECK_THAT(run.command.err, ContainsSubstring("build id"));
  CHECK_THAT(run.command.err, ContainsSubstring("starter_stripped_bare"));
  CHECK_THAT(run.command.err, ContainsSubstring("stripped"));
}

TEST_CASE("a timeout lets the job run on and is reported") {
  // `in` waits for nothing; a starter that holds before its breakpoint would, and `cat` never calls one.
  const scratch_folder folder;
  const auto begun = std::chrono::steady_clock::now();
  const auto run = run_command({MPIACQ_COMMAND, "launch", "--timeout", "0.3", "--", "sleep", "2"});
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("within 0.3 s"));
  CHECK_THAT(run.err, ContainsSubstring("runs on without mpiacq"));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
}

TEST_CASE("then detach: the job runs on untraced, and mpiacq ends with its status") {
  const launched run = launch({"starter_pie", "--exit", "9"}, {"--then", "detach"});
  CHECK(run.command.exit_code == 9);
  CHECK(run.said("being_debugged_at_start") == "1");
  CHECK(run.said("being_debugged_at_end") == "0");
  CHECK(run.report.at("processes").size() == 4);
}

TEST_CASE("then kill ends the starter and what it leaves behind") {
  const launched run = launch({"starter_pie"}, {"--then", "kill"});
  CHECK(run.command.exit_code == 128 + SIGTERM);
  for (const json& process : run.report.at("processes")) {
    CHECK(comes_true([&] { return has_ended(process); }));
  }
}

TEST_CASE("then kill ends a starter that ignores SIGTERM") {
  const launched run = launch({"starter_stubborn"}, {"--then", "kill"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 128 + SIGKILL);
  CHECK_THAT(run.command.err, ContainsSubstring("did not end on SIGTERM"));
  for (const json& process : run.report.at("processes")) {
    CHECK(comes_true([&] { return has_ended(process); }));
  }
}

TEST_CASE("then stop leaves the starter and its ranks stopped and untraced for another tool") {
  const scratch_folder folder;
  const std::string oracle = folder.path("oracle");
  const pid_t tool = started(
      {"--json", "-o", folder.path("report"), "--then", "stop", "--", fixture("starter_pie"), "--exit", "8"}, oracle);
  long starter = 0;
  REQUIRE(comes_true([&] {
    const auto said = read_oracle(oracle);
    starter = said.count("starter_pid") != 0 ? std::stol(said.at("starter_pid")) : 0;
    return starter != 0 && is_left_stopped(static_cast<pid_t>(starter));
  }));
  const auto said = read_oracle(oracle);
  CHECK(said.count("announcement.1.returned") == 0);
  for (int i = 0; i < 4; ++i) {
    const long rank = std::stol(said.at("rank." + std::to_string(i) + ".pid"));
    CHECK(comes_to_be_left_stopped(static_cast<pid_t>(rank)));
    ::kill(static_cast<pid_t>(rank), SIGCONT);
  }
  ::kill(static_cast<pid_t>(starter), SIGCONT);
  int status = 0;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 8);
  CHECK(read_oracle(oracle).at("announcement.1.returned") == "1");
}

TEST_CASE("a signal that is meant for the job is passed on to the starter") {
  const scratch_folder folder;
  const std::string oracle = folder.path("oracle");
  const pid_t tool = started({"--json", "-o", folder.path("report"), "--", fixture("starter_stubborn")}, oracle);
  REQUIRE(comes_true([&] { return read_oracle(oracle).count("waiting") != 0; }));
  ::kill(tool, SIGTERM);  // which this starter ignores
  ::kill(tool, SIGUSR1);  // which ends it
  int status = 0;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGUSR1);
}

TEST_CASE("a report whose reader has gone is a failure of mpiacq, and the job runs on") {
  const scratch_folder folder;
  const std::string oracle = folder.path("oracle");
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ::close(ends[0]);
  child_start how;
  how.err = ends[1];
  const pid_t tool = started({"--", fixture("starter_pie")}, oracle, how);
  ::close(ends[1]);
  int status = 0;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 125);
  CHECK(read_oracle(oracle).at("exit") == "0");
}

TEST_CASE("a job ends as it would without mpiacq if mpiacq is killed at any moment") {
  // Orphans come to us, so that their statuses can be seen.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int jobs_seen = 0;
  constexpr int rounds = 80;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    const scratch_folder folder;
    const std::string oracle = folder.path("oracle");
    const mpiacq::base::unique_fd nothing{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    child_start how;
    how.out = nothing.get();
    const pid_t tool =
        started({"--json", "-o", folder.path("report"), "--", fixture("starter_pie"), "--exit", "3"}, oracle, how);
    // From before the launch on; in every second round from the job's own beginning on, which may come late on a busy
    // machine.
    const bool once_there = round % 2 == 1;
    if (once_there) REQUIRE(comes_true([&] { return !file_contents(oracle).empty(); }));
    const timespec moment{0, once_there ? round * 200'000 : round * 1'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
    ::kill(tool, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(tool, &status, 0) == tool);
    if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 3);
    // What is left is the tracing process and, unless the tool died before its launch, the starter.
    int ended = 0;
    for (pid_t orphan = 0; (orphan = ::waitpid(-1, &ended, 0)) > 0;) {
      const auto said = read_oracle(oracle);
      const auto starter = said.find("starter_pid");
      if (starter == said.end() || starter->second != std::to_string(orphan)) continue;
      ++jobs_seen;
      CHECK(WIFEXITED(ended));
      CHECK(WEXITSTATUS(ended) == 3);
      for (int i = 0; i < 4; ++i) CHECK(said.at("rank." + std::to_string(i) + ".wait_status") == "0x0");
    }
  }
  CHECK(jobs_seen > 5);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("MPIR_being_debugged of the starter is 0 after mpiacq is killed") {
  const scratch_folder folder;
  const std::string oracle = folder.path("oracle");
  command_options how;
  how.environment["MPIACQ_ORACLE"] = oracle;
  running_command tool(
      {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report"), "--", fixture("starter_stubborn")}, how);
  REQUIRE(comes_true([&] { return read_oracle(oracle).count("waiting") != 0; }));
  const auto said = read_oracle(oracle);
  const auto starter = static_cast<pid_t>(std::stol(said.at("starter_pid")));
  CHECK(int_at(starter, said.at("symbol.MPIR_being_debugged")) == 1);
  ::kill(tool.pid(), SIGKILL);
  CHECK(comes_true([&] { return int_at(starter, said.at("symbol.MPIR_being_debugged")) == 0; }));
  CHECK(comes_true([&] { return runs_freely(starter); }));
  ::kill(starter, SIGKILL);
  for (int i = 0; i < 4; ++i) ::kill(std::stoi(said.at("rank." + std::to_string(i) + ".pid")), SIGKILL);
  // The job had the tool's standard streams, which end with it.
  CHECK(tool.wait().signal == SIGKILL);
}
