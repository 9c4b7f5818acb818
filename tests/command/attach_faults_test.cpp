// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Starters, ranks and mpiacq itself that die in the middle of an attach, and systems that forbid what it needs.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include <sys/ptrace.h>

#include "another_user.hpp"
#include "attached.hpp"
#include "catch.hpp"
#include "killed_at_write.hpp"
#include "refusals.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

void wait_for(std::chrono::microseconds time) {
  const timespec moment{0, static_cast<long>(time.count()) * 1000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
}

/// How long one attach of this build takes on this machine as it is now.
std::chrono::microseconds length_of_an_attach(const std::vector<std::string>& options) {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(attach(starter.pid(), options).command.exit_code == 0);
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun);
}

constexpr int rounds = 30;

int being_debugged(const running_starter& starter) {
  return starter.value_of("MPIR_being_debugged");
}

void kill_starters(const std::string& then) {
  const auto length = length_of_an_attach({});
  int told = 0;
  int had_table = 0;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    running_starter starter({"starter_pie", "--hold"});
    starter.ready();
    running_command tool(attach_command(starter.pid(), {"--then", then}), {});
    // A machine that is busy by now may be slower than it was: the last one waits for the end of the attach.
    std::optional<command_outcome> ended;
    if (round == rounds - 1) ended = tool.wait();
    if (!ended) wait_for(length * round / rounds);
    ::kill(starter.pid(), SIGKILL);
    const attached seen = outcome_of(ended ? std::move(*ended) : tool.wait());
    INFO(seen.command.err);
    CHECK_FALSE(seen.command.timed_out);
    CHECK(seen.command.signal == 0);
    if (seen.report.is_object()) {
      ++had_table;
      CHECK(seen.report.at("processes").size() == 4);
    } else {
      ++told;
      CHECK(seen.command.exit_code == 125);
      CHECK_THAT(seen.command.err, ContainsSubstring("mpiacq: "));
      CHECK_THAT(seen.command.err, ContainsSubstring(std::to_string(starter.pid())));
    }
    CHECK(WTERMSIG(starter.end()) == SIGKILL);
  }
  // Both were met, or the moments were the wrong ones.
  CHECK(told > 0);
  CHECK(had_table > 0);
}

/// What has to be so when mpiacq is gone.
void check_untouched(running_starter& starter) {
  // What traces is a process of its own, that lets go when it sees the end of mpiacq.
  CHECK(comes_true([&] { return runs_freely(starter.pid()); }));
  CHECK(being_debugged(starter) == 0);
  const int ended = starter.end();
  CHECK(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == 3);
  for (int i = 0; i < 4; ++i) CHECK(starter.said("rank." + std::to_string(i) + ".wait_status") == "0x0");
}

/// Kills mpiacq at moments from its start to after the table. Gives in how many rounds it had announced itself.
int kill_tools(const std::string& then) {
  const auto length = length_of_an_attach({});
  int announced = 0;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    running_starter starter({"starter_threads", "8", "--hold", "--exit", "3"});
    starter.ready();
    {
      running_command tool(attach_command(starter.pid(), {"--then", then}));
      wait_for(length * round / rounds);
      if (then == "continue" && round == rounds - 1) {
        REQUIRE(comes_true([&] { return being_debugged(starter) == 1; }));
      }
      announced += being_debugged(starter) == 1 ? 1 : 0;
      ::kill(tool.pid(), SIGKILL);
      (void)tool.wait();
    }
    CHECK(comes_true([&] { return runs_freely(starter.pid()); }));
    CHECK(being_debugged(starter) == 0);
    if (round % 10 == 0) {  // nothing of a dead tool is in the way of the next
      const attached next = attach(starter.pid());
      INFO(next.command.err);
      CHECK(next.command.exit_code == 0);
    }
    check_untouched(starter);
  }
  return announced;
}

}  // namespace

TEST_CASE("attach: a starter that is killed during the attach ends it with a sentence or with its table") {
  kill_starters("detach");
}

TEST_CASE("attach: a starter that is killed while it is left stopped is reported") {
  kill_starters("stop");
}

TEST_CASE("attach: the starter is as it was before if mpiacq is killed during the attach") {
  static_cast<void>(kill_tools("detach"));
}

TEST_CASE("attach: the starter is as it was before if mpiacq is killed before any of its writes") {
  int write = 0;
  int announced = 0;
  for (bool was_killed = true; was_killed; ++write) {
    INFO("before write " << write);
    running_starter starter({"starter_threads", "8", "--hold", "--exit", "3"});
    starter.ready();
    command_options driven;
    driven.in_child = ask_to_be_driven;
    driven.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // which nobody can, being traced
    running_command tool(attach_command(starter.pid(), {}), driven);
    was_killed = killed_at_write(tool.pid(), write, [&] { announced += being_debugged(starter) == 1 ? 1 : 0; });
    const command_outcome ended = tool.wait();
    CHECK((was_killed ? ended.signal == SIGKILL : ended.exit_code == 0));
    check_untouched(starter);
  }
  // It was seen between its announcement and its taking that back.
  CHECK(announced > 0);
}

TEST_CASE("attach: the starter is as it was before if mpiacq is killed while it stays attached") {
  CHECK(kill_tools("continue") > 0);
}

TEST_CASE("attach: ranks that ended before the attach are gone, and the others are held") {
  running_starter starter({"checked", "--hold", "--ranks", "5"});
  starter.ready();
  const auto ranks = starter.ranks();
  for (const std::size_t rank : {std::size_t{1}, std::size_t{3}}) {
    ::kill(ranks[rank], SIGKILL);
    REQUIRE(comes_true([&] { return process_state(ranks[rank]) == 'Z'; }));
  }
  const attached seen = attach(starter.pid(), {"--then", "stop"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool has_gone = i == 1 || i == 3;
    CHECK(seen.report.at("processes")[i].at("state") == (has_gone ? "gone" : "held"));
    CHECK(seen.report.at("processes")[i].at("pid") == ranks[i]);
    if (!has_gone) CHECK(comes_to_be_left_stopped(ranks[i]));
  }
  CHECK_THAT(seen.report.at("problems").dump(), ContainsSubstring("holding rank 3"));
  CHECK_THAT(seen.command.err, ContainsSubstring("it has ended already"));
}

TEST_CASE("attach: the error about a rank names the process that traces it, and the other ranks are held") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const auto ranks = starter.ranks();
  REQUIRE(::ptrace(PTRACE_SEIZE, ranks[2], 0, 0) == 0);
  const attached seen = attach(starter.pid(), {"--then", "stop"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK_THAT(seen.command.err, ContainsSubstring("holding rank 2"));
  CHECK_THAT(seen.command.err, ContainsSubstring("process " + std::to_string(::getpid())));
  for (const std::size_t rank : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
    CHECK(comes_to_be_left_stopped(ranks[rank]));
  CHECK(status_of(ranks[2], "TracerPid") == std::to_string(::getpid()));
  CHECK(process_state(ranks[2]) == 'S');
}

TEST_CASE("attach: mpiacq reads /proc/PID/mem if process_vm_readv is forbidden") {
  for (const int why : {EPERM, ENOSYS}) {
    INFO(why);
    running_starter starter({"checked", "--hold", "--exit", "3"});
    starter.ready();
    command_options how;
    how.in_child = [=] { refuse_process_vm_readv(why); };
    const attached seen = attach(starter.pid(), {}, how);
    INFO(seen.command.err);
    CHECK(seen.command.exit_code == 0);
    REQUIRE(seen.report.is_object());
    const auto ranks = starter.ranks();
    for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(seen.report.at("processes")[i].at("pid") == ranks[i]);
    const attached of_rank = attach(ranks[1], {}, how);
    CHECK(of_rank.report.at("starter").at("pid") == starter.pid());
    CHECK(WEXITSTATUS(starter.end()) == 3);
  }
}

TEST_CASE("attach: a starter of another user is refused with its owner and what to do, and runs on") {
  MPIACQ_NEEDS_ANOTHER_USER();
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  command_options nobody;
  nobody.as_nobody = true;
  for (const long pid : {static_cast<long>(starter.pid()), static_cast<long>(starter.ranks()[0])}) {
    const attached seen = attach(pid, {}, nobody);
    INFO(seen.command.err);
    CHECK(seen.command.exit_code == 125);
    CHECK(seen.report.is_null());
    CHECK_THAT(seen.command.err, ContainsSubstring(std::to_string(pid)));
    CHECK_THAT(seen.command.err, ContainsSubstring("it belongs to user 0, and this program runs as user 65534"));
  }
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("attach: mpiacq stays attached to a starter that a signal stops and continues") {
  running_starter starter({"starter_grows", "--step", "--exit", "3"});
  for (int step = 0; step < 2; ++step) starter.ready().go_on();
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  for (int round = 0; round < 3; ++round) {
    // Not SIGTSTP: the kernel lets that stop nobody whose process group is orphaned, as a test's may be.
    ::kill(starter.pid(), SIGSTOP);
    REQUIRE(comes_true([&] { return status_of(starter.pid(), "State").find('t') == 0; }));
    ::kill(starter.pid(), SIGCONT);
    REQUIRE(comes_true([&] { return status_of(starter.pid(), "State").find('S') == 0; }));
  }
  starter.go_on();
  starter.ready().go_on();
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.reports == 2);
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("attach: a report that cannot be written is a failure, and the starter runs on") {
  running_starter starter({"starter_pie", "--hold", "--exit", "3"});
  starter.ready();
  const auto nowhere = run_command(attach_command(starter.pid(), {"-o", "/no/such/folder/report"}));
  CHECK(nowhere.exit_code == 125);
  CHECK_THAT(nowhere.err, ContainsSubstring("/no/such/folder/report"));
  const auto full = run_command(attach_command(starter.pid(), {"-o", "/dev/full"}));
  CHECK(full.exit_code == 125);
  CHECK_THAT(full.err, ContainsSubstring("writing the report"));
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}
