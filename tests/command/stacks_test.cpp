// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq stacks on fixture starters, whose ranks all wait in be_a_rank.
#include <algorithm>
#include <csignal>
#include <optional>
#include <set>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attached.hpp"
#include "catch.hpp"
#include "json_of.hpp"
#include "on_terminal.hpp"
#include "silent_file.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

command_outcome stacks(pid_t pid, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "stacks"});
  options.push_back(std::to_string(pid));
  return run_command(options);
}

std::set<std::string> ranks_in(const json& report, const std::string& function) {
  std::set<std::string> ranks;
  for (const json& frame : report.at("tree")) {
    if (frame.at("function") == function) ranks.insert(frame.at("ranks").get<std::string>());
  }
  return ranks;
}

/// A thread of the process waits in process_vm_readv (x86-64: system call 310; aarch64: 270).
bool waits_for_memory(pid_t pid) {
  const auto threads = threads_of(pid);
  return std::any_of(threads.begin(), threads.end(), [&](pid_t thread) {
    const std::string call =
        file_contents("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/syscall");
    return call.starts_with("310 0x") || call.starts_with("270 0x");
  });
}

}  // namespace

TEST_CASE("stacks: Ctrl-C ends the command also while the memory of a rank does not answer, and the ranks run on") {
  if (::geteuid() != 0) MPIACQ_SKIP("a page whose faults nobody serves (userfaultfd) stops the kernel for root alone");
  running_starter starter({"checked", "--rank", "checked_rank_silent", "--ranks", "3", "--hold", "--exit", "3"});
  starter.ready();
  running_command run({MPIACQ_COMMAND, "stacks", std::to_string(starter.pid())});
  REQUIRE(comes_true([&] { return status_of(starter.ranks()[2], "State").find('t') == 0; }));
  ::kill(run.pid(), SIGINT);
  const auto outcome = run.wait();
  CHECK(outcome.signal == SIGINT);
  CHECK_FALSE(outcome.timed_out);
  CHECK_THAT(outcome.err, ContainsSubstring("all processes are released"));
  for (const pid_t rank : starter.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("stacks: Ctrl-C releases the ranks also while a file that they map does not answer") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can mount a file system of its own (FUSE)");
  using server = silent_file::server;
  const server behaviour = GENERATE(server::takes_nothing, server::keeps_requests);
  INFO((behaviour == server::takes_nothing ? "takes no request" : "keeps requests"));
  std::optional<running_command> run;  // it goes after the file, without which it may be unable to end
  silent_file file(65536, 131072);
  if (!file.why_not().empty()) MPIACQ_SKIP(file.why_not());
  file.inherit(true);
  ::setenv("CHECKED_SILENT_FILE", std::to_string(file.descriptor()).c_str(), 1);
  running_starter starter({"checked", "--rank", "checked_rank_silent_file", "--ranks", "3", "--hold", "--exit", "3"});
  ::unsetenv("CHECKED_SILENT_FILE");
  file.inherit(false);
  starter.ready();
  file.behave(behaviour);
  run.emplace(std::vector<std::string>{MPIACQ_COMMAND, "stacks", std::to_string(starter.pid())});
  REQUIRE(comes_true([&] { return waits_for_memory(run->pid()) || process_state(run->pid()) == 'Z'; }));
  if (process_state(run->pid()) == 'Z') FAIL("it has ended, and said: " << run->wait().err);
  for (const pid_t rank : starter.ranks()) CHECK(status_of(rank, "State").starts_with("t"));
  ::kill(run->pid(), SIGINT);
  const auto begin = std::chrono::steady_clock::now();
  for (const pid_t rank : starter.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  // Not by tracer_options::hold_limit, which is a minute.
  CHECK(std::chrono::steady_clock::now() - begin < soon);
  // The kernel lets no reader end whose request the server has.
  if (behaviour == server::keeps_requests) file.end();
  const auto outcome = run->wait();
  CHECK(outcome.signal == SIGINT);
  CHECK_FALSE(outcome.timed_out);
  CHECK_THAT(outcome.err, ContainsSubstring("all processes are released"));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("stacks: the report is one tree of all ranks, and the starter is not examined") {
  running_starter starter({"starter_pie", "--hold", "--ranks", "5", "--exit", "3"});
  starter.ready();
  const auto run = stacks(starter.pid(), {"--json"});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  const json seen = json_of(run);
  INFO(seen.dump(1));
  CHECK(seen.at("schema") == "mpiacq.stacks/1");
  CHECK(seen.at("samples") == 1);
  CHECK(seen.at("starter").at("pid") == starter.pid());
  REQUIRE(seen.at("ranks").size() == 5);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const json& row = seen.at("ranks")[rank];
    CHECK(row.at("rank") == rank);
    CHECK(row.at("pid") == starter.ranks()[rank]);
    CHECK(row.at("outcome") == "taken");
    CHECK(row.at("problems").empty());
    CHECK(runs_freely(starter.ranks()[rank]));
  }
  CHECK(ranks_in(seen, "main") == std::set<std::string>{"0-4"});
  CHECK(ranks_in(seen, "be_a_rank") == std::set<std::string>{"0-4"});
  // Parents stand before their children, and nobody is their own.
  for (std::size_t i = 0; i < seen.at("tree").size(); ++i) {
    const json& frame = seen.at("tree")[i];
    CHECK(frame.at("id") == i);
    CHECK((frame.at("parent").is_null() || frame.at("parent").get<std::size_t>() < i));
  }
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("stacks: the pid of a rank leads to its job") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const json seen = json_of(stacks(starter.ranks().at(2), {"--json"}));
  CHECK(seen.at("starter").at("pid") == starter.pid());
  CHECK(seen.at("starter").at("found_how").is_string());
  CHECK(seen.at("ranks").size() == 4);
}

TEST_CASE("stacks: the report is written as text, as folded stacks and for Graphviz") {
  running_starter starter({"starter_pie", "--hold", "--ranks", "3"});
  starter.ready();
  const auto text = stacks(starter.pid());
  INFO(text.out << text.err);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("stacks of 3 of 3 ranks"));
  CHECK_THAT(text.out, ContainsSubstring("  0-2  "));
  CHECK_THAT(text.out, ContainsSubstring("be_a_rank at starter.c:"));
  CHECK_THAT(text.out, ContainsSubstring("in the same calls below it"));
  CHECK_THAT(text.out, !ContainsSubstring("\x1b["));

  const auto folded = stacks(starter.pid(), {"--folded", "--samples", "4", "--interval", "0"});
  CHECK(folded.exit_code == 0);
  CHECK_THAT(folded.out, ContainsSubstring("main;starter_run;starter_spawn;be_a_rank;"));
  CHECK_THAT(folded.out, ContainsSubstring(" 12\n"));
  CHECK(std::count(folded.out.begin(), folded.out.end(), '\n') == 1);

  const auto dot = stacks(starter.pid(), {"--dot"});
  CHECK(dot.exit_code == 0);
  CHECK_THAT(dot.out, ContainsSubstring("digraph stacks {"));
  CHECK_THAT(dot.out, ContainsSubstring("label=\"0-2\""));
}

TEST_CASE("stacks: the report shows the selected ranks and names ranks of other nodes") {
  running_starter starter({"checked", "--hold", "--ranks", "6"});
  starter.ready();
  const json some = json_of(stacks(starter.pid(), {"--json", "--ranks", "1,4-5"}));
  CHECK(some.at("ranks").size() == 3);
  CHECK(some.at("tree")[0].at("ranks") == "1,4-5");

  running_starter elsewhere({"starter_pie", "--hold", "--host", "n17.elsewhere"});
  elsewhere.ready();
  const auto run = stacks(elsewhere.pid(), {"--agents", "none"});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("on other nodes, and not looked at: ranks 0-3"));
  const json none = json_of(stacks(elsewhere.pid(), {"--json", "--agents", "none"}));
  CHECK(none.at("tree").empty());
  for (const json& row : none.at("ranks")) CHECK(row.at("outcome") == "remote");
}

TEST_CASE("stacks: the report names a rank that another tracer holds, and shows the other ranks") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const pid_t rank = starter.ranks().at(1);
  REQUIRE(::ptrace(PTRACE_SEIZE, rank, nullptr, nullptr) == 0);
  const auto run = stacks(starter.pid(), {"--json"});
  ::ptrace(PTRACE_INTERRUPT, rank, nullptr, nullptr);
  REQUIRE(::waitpid(rank, nullptr, __WALL) == rank);
  ::ptrace(PTRACE_DETACH, rank, nullptr, nullptr);
  const json seen = json_of(run, 1);
  CHECK(seen.at("ranks")[1].at("outcome") == "busy");
  CHECK_THAT(seen.at("ranks")[1].at("problems")[0].get<std::string>(), ContainsSubstring(std::to_string(::getpid())));
  CHECK(seen.at("tree")[0].at("ranks") == "0,2-3");
}

TEST_CASE("stacks: a stopped rank is shown and stays stopped") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const pid_t rank = starter.ranks().at(3);
  ::kill(rank, SIGSTOP);
  REQUIRE(comes_true([&] { return is_left_stopped(rank); }));
  const json seen = json_of(stacks(starter.pid(), {"--json", "--samples", "3", "--interval", "0"}));
  CHECK(seen.at("tree")[0].at("ranks") == "0-3");
  CHECK(comes_to_be_left_stopped(rank));
  ::kill(rank, SIGCONT);
}

TEST_CASE("stacks: the report of attach contains the stacks") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const attached seen = attach(starter.pid(), {"--stacks"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.report.at("stacks").at("tree")[0].at("ranks") == "0-3");
  const auto text = run_command({MPIACQ_COMMAND, "attach", "--stacks", std::to_string(starter.pid())});
  CHECK_THAT(text.out, ContainsSubstring("in the same calls below it"));
  for (const pid_t rank : starter.ranks()) CHECK(runs_freely(rank));
}

TEST_CASE("stacks: only a terminal gets colour, and none if NO_COLOR is set") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  for (const bool refused : {false, true}) {
    INFO(refused);
    const std::string out = shown_on_terminal({MPIACQ_COMMAND, "stacks", std::to_string(starter.pid())}, refused);
    CHECK_THAT(out, ContainsSubstring("stacks of 4 of 4 ranks"));
    CHECK((out.find("\x1b[") != std::string::npos) == !refused);
  }
}

TEST_CASE("stacks: a job that cannot be examined ends the command in 125 with a sentence") {
  running_starter starter({"starter_pie", "--step"});
  starter.ready();
  const auto early = stacks(starter.pid(), {"--timeout", "0.1"});
  CHECK(early.exit_code == 125);
  CHECK_THAT(early.err, ContainsSubstring("process table"));
  CHECK(stacks(999999999).exit_code == 125);
  CHECK(stacks(starter.pid(), {"--json", "--dot"}).exit_code == 125);
  CHECK(stacks(starter.pid(), {"--samples", "0"}).exit_code == 125);
}
