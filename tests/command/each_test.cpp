// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// --each: a command for each rank, while nobody holds it.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "attached.hpp"
#include "catch.hpp"
#include "launched.hpp"
#include "lines_of.hpp"

using namespace mpiacq::test;

namespace {

/// The report goes nowhere, what the commands print to standard output.
command_outcome attach_each(pid_t pid, const std::string& command, std::vector<std::string> options = {}) {
  std::vector<std::string> words = {MPIACQ_COMMAND, "attach", "-o", "/dev/null", "--each", command};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(pid));
  return run_command(words);
}

}  // namespace

TEST_CASE("each: a command runs for every rank, and the rank stands before each line of its output") {
  running_starter starter({"checked", "--hold", "--ranks", "5", "--exit", "3"});
  starter.ready();
  const auto run = attach_each(starter.pid(), "echo pid {pid} {rank}; printf 'no line feed' >&2; echo '{' {other}");
  INFO(run.err);
  CHECK(run.exit_code == 0);
  auto lines = lines_of(run.out);
  REQUIRE(lines.size() == 10);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const std::string number = std::to_string(rank);
    const std::string pid = std::to_string(starter.ranks()[rank]);
    CHECK(std::count(lines.begin(), lines.end(), number + ": pid " + pid + " " + number) == 1);
    CHECK(std::count(lines.begin(), lines.end(), number + ": no line feed{ {other}") == 1);
    CHECK(runs_freely(starter.ranks()[rank]));
  }
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("each: no process traces a rank while its command runs, also after then stop") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const auto run = attach_each(starter.pid(), "grep -E '^(State|TracerPid)' /proc/{pid}/status");
  CHECK(run.exit_code == 0);
  for (const std::string& line : lines_of(run.out)) {
    if (line.find("TracerPid") != std::string::npos) CHECK_THAT(line, ContainsSubstring("TracerPid:\t0"));
    CHECK_THAT(line, !ContainsSubstring("stop"));
  }
  // The stop is on its way when a rank is let go: it runs no instruction of its own any more, but has to get a core.
  const auto stopped = attach_each(starter.pid(),
                                   "for i in $(seq 200); do grep -q 'T (stopped)' /proc/{pid}/status && break; "
                                   "sleep 0.05; done; grep ^State /proc/{pid}/status",
                                   {"--then", "stop"});
  CHECK(stopped.exit_code == 0);
  for (const std::string& line : lines_of(stopped.out)) CHECK_THAT(line, ContainsSubstring("T (stopped)"));
  for (const pid_t rank : starter.ranks()) ::kill(rank, SIGCONT);
  ::kill(starter.pid(), SIGCONT);
}

TEST_CASE("each: a command that fails gives the exit status 1, and the other commands run") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const std::string how = GENERATE(values<std::string>({"test {rank} != 2", "test {rank} != 2 || kill -9 $$"}));
  INFO(how);
  const auto run = attach_each(starter.pid(), "echo here; " + how);
  CHECK(run.exit_code == 1);
  for (const char* line : {"0: here\n", "1: here\n", "2: here\n", "3: here\n"}) {
    CHECK_THAT(run.out, ContainsSubstring(line));
  }
}

TEST_CASE("each: commands run for the selected ranks alone, and ranks of other nodes are named") {
  running_starter starter({"checked", "--hold", "--ranks", "6"});
  starter.ready();
  const auto some = attach_each(starter.pid(), "echo {rank}", {"--ranks", "1,4-5"});
  CHECK(some.exit_code == 0);
  auto lines = lines_of(some.out);
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector<std::string>{"1: 1", "4: 4", "5: 5"});

  running_starter elsewhere({"starter_pie", "--hold", "--host", "n17.elsewhere"});
  elsewhere.ready();
  const auto none = attach_each(elsewhere.pid(), "echo {rank}");
  CHECK(none.exit_code == 0);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, ContainsSubstring("not run for ranks 0-3, on other nodes"));
}

TEST_CASE("each: every value is one word of the shell, whatever it contains") {
  const scratch_folder folder;
  const std::string odd = folder.path("o'neil \"$HOME\" `x`;");
  std::filesystem::create_directory(odd);
  std::filesystem::copy(MPIACQ_STARTERS "/starter_pie", odd + "/s t");
  live_process starter({odd + "/s t", "--hold"});
  (void)starter.lines_until_ready();
  const auto run =
      attach_each(static_cast<pid_t>(starter.pid().value()), "printf '%s|' {exe} {host} end", {"--ranks", "0"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("0: " + odd + "/s t|"));
  CHECK_THAT(run.out, ContainsSubstring("|end|\n"));
}

TEST_CASE("each: --jobs bounds the number of commands that run at a time") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const scratch_folder folder;
  // A folder is made by one at a time, and waited for a while.
  const std::string alone = "mkdir " + folder.path("x") + " && sleep 0.1 && rmdir " + folder.path("x");
  CHECK(attach_each(starter.pid(), alone, {"--jobs", "1"}).exit_code == 0);
  CHECK(attach_each(starter.pid(), alone, {"--jobs", "4"}).exit_code == 1);
}

TEST_CASE("each: a signal ends the commands, and the job runs on") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  const scratch_folder folder;
  const std::string folder_path = folder.path("");
  running_command tool({MPIACQ_COMMAND, "attach", "-o", "/dev/null", "--jobs", "4", "--each",
                        "echo $$ > " + folder_path + "new.{rank} && mv " + folder_path + "new.{rank} " + folder_path +
                            "{rank}; exec sleep 100",
                        std::to_string(starter.pid())});
  std::set<pid_t> commands;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string file = folder.path(std::to_string(rank));
    REQUIRE(comes_true([&] { return !file_contents(file).empty(); }));
    commands.insert(std::atoi(file_contents(file).c_str()));
  }
  ::kill(tool.pid(), SIGINT);
  const auto ended = tool.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 128 + SIGINT);
  for (const pid_t command : commands) CHECK(process_state(command) == ' ');
  for (const pid_t rank : starter.ranks()) CHECK(runs_freely(rank));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("each: commands run on a launched job, and the job's output is unchanged") {
  const auto ok = launch({"checked", "--ranks", "3", "--exit", "0"}, {"--each", "echo of {rank}"});
  INFO(ok.command.err);
  CHECK(ok.command.exit_code == 0);
  for (const char* line : {"0: of 0\n", "1: of 1\n", "2: of 2\n"}) CHECK_THAT(ok.command.err, ContainsSubstring(line));
  CHECK_THAT(ok.command.out, !ContainsSubstring("0: of"));
  CHECK(launch({"checked"}, {"--each", "false"}).command.exit_code == 1);
  CHECK(launch({"checked", "--exit", "4"}, {"--each", "false"}).command.exit_code == 4);
}

TEST_CASE("each: options that contradict each other are refused before anything is done") {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--jobs", "2"},
                                             {"--each", "true", "--then", "kill"},
                                             {"--each", "true", "--jobs", "0"},
                                             {"--threads", "some"}}) {
    std::vector<std::string> words = {MPIACQ_COMMAND, "attach"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("1");
    const auto run = run_command(words);
    INFO(run.err);
    CHECK(run.exit_code == 125);
    CHECK(!run.err.empty());
  }
}
