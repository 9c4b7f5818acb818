// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whose number is given: a starter's without a table, a rank's, a wrapper's, nobody's. And what --then leaves behind.
#include <csignal>
#include <thread>

#include "attached.hpp"
#include "catch.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<long> pids_in(const json& report) {
  std::vector<long> pids;
  for (const json& process : report.at("processes")) pids.push_back(process.at("pid").get<long>());
  return pids;
}

std::vector<long> pids_of(const running_starter& starter) {
  const auto ranks = starter.ranks();
  return {ranks.begin(), ranks.end()};
}

void check_found(const attached& seen, const running_starter& starter, long from, long pid, const char* how) {
  INFO(seen.command.err);
  REQUIRE(seen.command.exit_code == 0);
  CHECK(seen.report.at("starter").at("pid") == pid);
  CHECK(pids_in(seen.report) == pids_of(starter));
  const std::string found_how = seen.report.at("starter").at("found_how");
  INFO(found_how);
  CHECK_THAT(found_how, ContainsSubstring(std::to_string(from) + " ("));
  CHECK_THAT(found_how, ContainsSubstring(std::to_string(pid) + " ("));
  CHECK_THAT(found_how, ContainsSubstring(how));
}

/// Waits for a process's end without being its parent.
bool has_ended(pid_t pid) {
  return comes_true([&] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; });
}

}  // namespace

TEST_CASE("attach: the pid of a rank leads to the starter whose table lists the rank") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const auto ranks = starter.ranks();
  for (const std::size_t rank : {std::size_t{0}, ranks.size() - 1}) {
    const attached seen = attach(ranks[rank]);
    check_found(seen, starter, ranks[rank], starter.pid(), ("as rank " + std::to_string(rank)).c_str());
    CHECK_THAT(seen.report.at("starter").at("found_how").get<std::string>(), ContainsSubstring("its ancestor"));
  }
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("attach: the pid of a rank that is a forked copy of its starter leads to the starter") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  const auto ranks = starter.ranks();
  const attached seen = attach(ranks[1], {"--timeout", "5"});
  check_found(seen, starter, ranks[1], starter.pid(), "is a forked copy of its parent");
  CHECK_THAT(seen.report.at("starter").at("found_how").get<std::string>(), ContainsSubstring("lists it as rank 1"));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("attach: the pid of a wrapper that waits for its starter leads to the starter") {
  running_starter wrapper({"wrapper", "fork", MPIACQ_STARTERS "/starter_pie", "--hold", "--exit", "4"});
  wrapper.ready();
  const attached seen = attach(wrapper.pid());
  check_found(seen, wrapper, wrapper.pid(), std::stol(wrapper.said("starter_pid")), "which it has started");
  CHECK(WEXITSTATUS(wrapper.end()) == 4);
}

TEST_CASE("attach: the pid of a shell script that runs the starter leads to the starter") {
  running_starter starter(
      {"../../../../../../../../bin/sh", "-c", MPIACQ_STARTERS "/starter_pie --hold --exit 4; exit $?"});
  starter.ready();
  REQUIRE(std::stol(starter.said("starter_pid")) != starter.pid());
  const attached seen = attach(starter.pid());
  check_found(seen, starter, starter.pid(), std::stol(starter.said("starter_pid")), "which it has started");
  CHECK(WEXITSTATUS(starter.end()) == 4);
}

TEST_CASE("attach: a process without a job is left alone, and the sentence names what it lacks") {
  running_command sleeper({"sleep", "30"});
  REQUIRE(comes_true([&] { return file_contents("/proc/" + std::to_string(sleeper.pid()) + "/comm") == "sleep\n"; }));
  const attached seen = attach(sleeper.pid());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK(seen.report.is_null());
  CHECK_THAT(seen.command.err, ContainsSubstring("no starter's table on this node lists it"));
  CHECK_THAT(seen.command.err, ContainsSubstring("MPIR_Breakpoint"));
  CHECK(runs_freely(sleeper.pid()));
}

TEST_CASE("attach: the sentence about a rank without a starter on this node says where the starter may be") {
  command_options how;
  how.environment["OMPI_COMM_WORLD_RANK"] = "3";
  how.environment["PMIX_SERVER_URI2"] = "pmix.4711;tcp4://10.1.2.3:4321";
  running_command orphan({"sleep", "30"}, how);
  REQUIRE(comes_true([&] { return file_contents("/proc/" + std::to_string(orphan.pid()) + "/comm") == "sleep\n"; }));
  const attached seen = attach(orphan.pid(), {"--source", "mpir"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK_THAT(seen.command.err, ContainsSubstring("OMPI_COMM_WORLD_RANK=3"));
  CHECK_THAT(seen.command.err, ContainsSubstring("10.1.2.3:4321"));
  CHECK_THAT(seen.command.err, ContainsSubstring("attach where the starter runs"));
}

TEST_CASE("attach: a word that is not the id of a process is refused with a sentence") {
  for (const char* number : {"4194304", "2147483647", "9999999999"}) {
    INFO(number);
    const auto run = run_command({MPIACQ_COMMAND, "attach", number});
    INFO(run.err);
    CHECK(run.exit_code == 125);
    CHECK_THAT(run.err, ContainsSubstring(number));
    CHECK_THAT(run.err, ContainsSubstring("there is no such process"));
  }
  for (const char* word : {"-3", "0", "mpirun", "12x", ""}) {
    INFO(word);
    const auto run = run_command({MPIACQ_COMMAND, "attach", "--", word});
    INFO(run.err);
    CHECK(run.exit_code == 125);
    CHECK_THAT(run.err, ContainsSubstring(std::string("attach: \"") + word + "\" is not the id of a process"));
  }
  CHECK(run_command({MPIACQ_COMMAND, "attach", "mpirun"}).exit_code == 125);
}

TEST_CASE("attach: the id of a thread leads to its process") {
  running_starter starter({"starter_calls_null", "--hold"});
  starter.ready();
  REQUIRE(comes_true([&] { return threads_of(starter.pid()).size() == 2; }));
  auto threads = threads_of(starter.pid());
  const attached seen = attach(threads[0] == starter.pid() ? threads[1] : threads[0]);
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK_THAT(seen.command.err, ContainsSubstring("is a thread of process " + std::to_string(starter.pid())));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("attach: a zombie is reported as ended") {
  const pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  REQUIRE(comes_true([&] { return process_state(zombie) == 'Z'; }));
  const attached seen = attach(zombie);
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK_THAT(seen.command.err, ContainsSubstring("it has ended already, and its parent"));
  ::waitpid(zombie, nullptr, 0);
}

TEST_CASE("attach: mpiacq waits for a table that is not there yet") {
  running_starter starter({"starter_pie", "--step", "--hold"});
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  starter.go_on();  // spawns
  starter.ready().go_on();
  // At the latest its breakpoint says that the table is there.
  starter.ready();
  ::kill(tool.pid(), SIGINT);
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 128 + SIGINT);
  CHECK(seen.reports == 1);
  CHECK(seen.report.at("event") == "attached");
  CHECK(pids_in(seen.report) == pids_of(starter));
  CHECK(WEXITSTATUS(starter.end()) == 0);
  CHECK(starter.said("being_debugged_at_end") == "0");
}

TEST_CASE("attach: a table that is filled without an event is read when its last entry is there") {
  running_starter starter({"starter_fills_slowly", "--step", "--exit", "3"});
  starter.ready().go_on();  // it spawns, and the table gets its size
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  starter.go_on();
  starter.ready();
  const auto begun = std::chrono::steady_clock::now();
  // Half full for longer than two looks.
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  starter.go_on();
  starter.ready();
  const auto filled = std::chrono::steady_clock::now() - begun;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  starter.go_on();
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err << filled.count());
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.reports == 1);
  CHECK(pids_in(seen.report) == pids_of(starter));
  CHECK(seen.report.at("problems").empty());
  CHECK(WEXITSTATUS(starter.end()) == 3);
  CHECK(starter.said("breakpoint_calls") == "0");
}

TEST_CASE("attach: the starter runs on without mpiacq if it has no table within --timeout") {
  const std::string kind = GENERATE(values<std::string>({"starter_pie", "starter_calls_null"}));
  INFO(kind);
  running_starter starter({kind, "--step", "--hold", "--exit", "3"});
  starter.ready();
  const attached seen = attach(starter.pid(), {"--timeout", "0.4"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK(seen.report.is_null());
  CHECK_THAT(seen.command.err, ContainsSubstring("has had no process table within 0.4 s"));
  CHECK_THAT(seen.command.err, ContainsSubstring("runs on without mpiacq"));
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 3);
  CHECK(starter.said("being_debugged_at_end") == "0");
  for (int rank = 0; rank < 4; ++rank) CHECK(starter.said("rank." + std::to_string(rank) + ".wait_status") == "0x0");
}

TEST_CASE("attach: the sentence about a starter that ended without a table gives its exit status") {
  running_starter starter({"starter_never_spawns", "--hold", "--exit", "3"});
  starter.ready();
  running_command tool(attach_command(starter.pid(), {}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  CHECK(WEXITSTATUS(starter.end()) == 3);
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK(seen.report.is_null());
  CHECK_THAT(seen.command.err, ContainsSubstring("ended: exit status 3"));
}

TEST_CASE("attach: a starter that was stopped before stays stopped, with or without a table") {
  for (const bool has_table : {true, false}) {
    INFO(has_table);
    running_starter starter({"starter_pie", has_table ? "--hold" : "--step", "--exit", "3"});
    starter.ready();
    ::kill(starter.pid(), SIGSTOP);
    REQUIRE(comes_true([&] { return is_left_stopped(starter.pid()); }));
    const attached seen = attach(starter.pid(), {"--timeout", "0.5"});
    INFO(seen.command.err);
    CHECK(seen.command.exit_code == (has_table ? 0 : 125));
    CHECK(comes_to_be_left_stopped(starter.pid()));
    CHECK(starter.value_of("MPIR_being_debugged") == 0);
    ::kill(starter.pid(), SIGCONT);
    CHECK(WEXITSTATUS(starter.end()) == 3);
  }
}

TEST_CASE("attach: a number behind -- is the id of the process") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  const auto run = run_command({MPIACQ_COMMAND, "attach", "--json", "--", std::to_string(starter.pid())});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(pids_in(json::parse(run.out)) == pids_of(starter));
}

TEST_CASE("attach: then kill ends a starter and ranks that ignore SIGTERM") {
  running_starter starter({"starter_stubborn"});
  REQUIRE(comes_true([&] { return starter.said("waiting") == "1"; }));
  const attached seen = attach(starter.pid(), {"--then", "kill"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK_THAT(seen.command.err, ContainsSubstring("did not end on SIGTERM"));
  const int ended = starter.end();
  CHECK(WIFSIGNALED(ended));
  CHECK(WTERMSIG(ended) == SIGKILL);
  for (const pid_t rank : starter.ranks()) CHECK(has_ended(rank));
}

TEST_CASE("attach: then stop leaves the starter and the selected ranks stopped, and no other process") {
  const auto [selection, chosen] = GENERATE(table<std::string, std::vector<std::size_t>>(
      {{"", {0, 1, 2, 3, 4, 5}}, {"all", {0, 1, 2, 3, 4, 5}}, {"1,3-4", {1, 3, 4}}, {"5", {5}}, {"9", {}}}));
  INFO(selection);
  running_starter starter({"checked", "--hold", "--ranks", "6", "--exit", "3"});
  starter.ready();
  std::vector<std::string> options = {"--then", "stop"};
  if (!selection.empty()) options.insert(options.end(), {"--ranks", selection});
  const attached seen = attach(starter.pid(), options);
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK_THAT(seen.command.err, ContainsSubstring("kill -CONT"));
  CHECK(comes_to_be_left_stopped(starter.pid()));
  const auto ranks = starter.ranks();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    INFO("rank " << i);
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
    CHECK((is_chosen ? comes_to_be_left_stopped(ranks[i]) : !is_left_stopped(ranks[i])));
    CHECK(runs_freely(ranks[i]) == !is_chosen);
    CHECK(seen.report.at("processes")[i].at("state") == (is_chosen ? "held" : "running"));
  }
  for (const std::size_t i : chosen) ::kill(ranks[i], SIGCONT);
  ::kill(starter.pid(), SIGCONT);
  CHECK(WEXITSTATUS(starter.end()) == 3);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    CHECK(starter.said("rank." + std::to_string(i) + ".wait_status") == "0x0");
  }
}

TEST_CASE("attach: a second attach takes over a job that the first left stopped") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  REQUIRE(attach(starter.pid(), {"--then", "stop"}).command.exit_code == 0);
  const attached seen = attach(starter.pid());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(pids_in(seen.report) == pids_of(starter));
  for (const json& process : seen.report.at("processes")) CHECK(process.at("state") == "stopped");
  // As it was found.
  CHECK(comes_to_be_left_stopped(starter.pid()));
  for (const pid_t rank : starter.ranks()) CHECK(comes_to_be_left_stopped(rank));
  for (const pid_t rank : starter.ranks()) ::kill(rank, SIGCONT);
  ::kill(starter.pid(), SIGCONT);
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("attach: then kill ends the starter and its ranks") {
  const std::string kind = GENERATE(values<std::string>({"checked", "starter_pie"}));
  INFO(kind);
  running_starter starter({kind, "--hold"});
  starter.ready();
  const attached seen = attach(starter.pid(), {"--then", "kill"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(pids_in(seen.report) == pids_of(starter));
  const int ended = starter.end();
  CHECK(WIFSIGNALED(ended));
  CHECK(WTERMSIG(ended) == SIGTERM);
  for (const pid_t rank : starter.ranks()) CHECK(has_ended(rank));
}
