// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A starter that runs already: what is reported, and that nothing of us is left. The oracles are what the starter wrote
// down and what the kernel shows of it.
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include <sys/ptrace.h>
#include <sys/user.h>

#include "attached.hpp"
#include "catch.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> every_kind() {
  std::vector<std::string> kinds = {"starter_pie",           "starter_no_pie",     "starter_static",
                                    "starter_static_pie",    "starter_stripped",   "starter_stripped_sysv_hash",
                                    "starter_symbols_only",  "starter_build_id",   "starter_debuglink",
                                    "starter_compressed",    "starter_library",    "starter_copied",
                                    "starter_loads_later",   "starter_threads",    "starter_extended_procdesc",
                                    "starter_execs_itself",  "starter_rank_zero",  "starter_flags",
                                    "starter_children_call", "starter_extensions", "starter_grows"};
#ifdef MPIACQ_HAVE_32_BIT_STARTERS
  for (const char* name : {"starter_32", "starter_32_no_pie", "starter_32_static", "starter_32_stripped",
                           "starter_32_loads_later", "starter_32_threads"}) {
    kinds.emplace_back(name);
  }
#endif
#ifdef MPIACQ_HAVE_MUSL_STARTERS
  for (const char* name : {"starter_musl", "starter_musl_static", "starter_musl_static_pie"}) kinds.emplace_back(name);
#endif
  return kinds;
}

void check_table(const json& report, const running_starter& starter) {
  REQUIRE(report.is_object());
  const json& processes = report.at("processes");
  REQUIRE(std::to_string(processes.size()) == starter.said("table_size"));
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    CHECK(processes[i].at("rank") == i);
    CHECK(std::to_string(processes[i].at("pid").get<long>()) == starter.said(rank + ".pid"));
    CHECK(processes[i].at("host") == starter.said(rank + ".host"));
    CHECK(processes[i].at("executable") == starter.said(rank + ".exe"));
    CHECK(processes[i].at("local") == true);
    CHECK(processes[i].at("problems").empty());
  }
}

/// The starter and its ranks end as they would have without us.
void check_end(running_starter& starter, int status) {
  const auto ranks = starter.ranks();
  const int ended = starter.end();
  CHECK(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == status);
  CHECK(starter.said("being_debugged_at_end") == "0");
  CHECK(starter.said("exit") == std::to_string(status));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    CHECK(starter.said("rank." + std::to_string(i) + ".wait_status") == "0x0");
  }
}

/// Which debug registers a tracer has set in a thread: the control register's enabling bits. 0 where none can be read.
long armed_in(pid_t task) {
#if defined(__x86_64__)
  REQUIRE(::ptrace(PTRACE_SEIZE, task, 0, 0) == 0);
  REQUIRE(::ptrace(PTRACE_INTERRUPT, task, 0, 0) == 0);
  REQUIRE(::waitpid(task, nullptr, __WALL) == task);
  constexpr std::size_t control = 7;
  const long bits = ::ptrace(PTRACE_PEEKUSER, task, offsetof(struct user, u_debugreg) + control * sizeof(long), 0);
  REQUIRE(::ptrace(PTRACE_DETACH, task, 0, 0) == 0);
  return bits & 0xff;
#else
  static_cast<void>(task);
  return 0;
#endif
}

bool sleeps(pid_t task) {
  return status_of(task, "State").find('S') == 0;
}

/// What is started while it lives has no rseq(2) area: the kernel writes there at every change of processor.
struct without_rseq {
  without_rseq() { ::setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1); }
  ~without_rseq() { ::unsetenv("GLIBC_TUNABLES"); }
  without_rseq(const without_rseq&) = delete;
  without_rseq& operator=(const without_rseq&) = delete;
};

/// What differs between two looks at a process, by the lines of its maps.
std::vector<std::string> changed(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& after) {
  std::vector<std::string> lines;
  for (const auto& [line, bytes] : before) {
    const auto now = after.find(line);
    if (now == after.end() || now->second != bytes) lines.push_back(line);
  }
  for (const auto& [line, bytes] : after) {
    if (!before.contains(line)) lines.push_back("new: " + line);
  }
  return lines;
}

}  // namespace

TEST_CASE("attach: every kind of starter gives its table, and ends as it would have") {
  const std::string kind = GENERATE(from_range(every_kind()));
  INFO(kind);
  running_starter starter({kind, "--hold", "--exit", "3"});
  starter.ready();
  std::vector<std::string> options;
  if (kind.find("build_id") != std::string::npos) options = {"--debug-dir", MPIACQ_STARTERS "/debug"};
  const attached seen = attach(starter.pid(), options);
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.command.err.empty());
  check_table(seen.report, starter);
  CHECK(seen.reports == 1);
  CHECK(seen.report.at("event") == "attached");
  CHECK(seen.report.at("starter").at("mode") == "attach");
  CHECK(seen.report.at("starter").at("pid") == starter.pid());
  CHECK(seen.report.at("starter").at("executable") == starter.said("executable"));
  CHECK(seen.report.at("starter").at("found_how").is_null());
  CHECK(seen.report.at("starter").at("is_rank") == (kind == "starter_rank_zero"));
  CHECK(seen.report.at("problems").empty());
  for (const json& process : seen.report.at("processes")) CHECK(process.at("state") == "running");
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(runs_freely(starter.pid()));
  check_end(starter, 3);
}

TEST_CASE("attach: the text report has a line for each process") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  const auto run = run_command({MPIACQ_COMMAND, "attach", std::to_string(starter.pid())});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  for (const pid_t rank : starter.ranks()) CHECK_THAT(run.out, ContainsSubstring(std::to_string(rank)));
}

TEST_CASE("attach: being_debugged is 1 during the attach, and 0 after Ctrl-C") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  // It goes on under us: the signal below finds it running.
  REQUIRE(comes_true([&] { return sleeps(starter.pid()); }));
  ::kill(tool.pid(), SIGINT);
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 128 + SIGINT);
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(runs_freely(starter.pid()));
  check_table(seen.report, starter);
  check_end(starter, 0);
}

TEST_CASE("attach: afterwards no byte of the starter differs, no thread is held and no debug register is set") {
  const std::string kind =
      GENERATE(values<std::string>({"starter_pie", "starter_threads", "starter_loads_later", "starter_extensions",
                                    "starter_static", "starter_rank_zero", "checked"}));
  const bool stops = GENERATE(false, true);
  INFO(kind << (stops ? ", left stopped" : ""));
  const without_rseq quiet;
  running_starter starter({kind, "--hold", "--exit", "3"});
  starter.ready();
  // Not before it sleeps in its read: what it does until then is its own.
  REQUIRE(comes_true([&] { return sleeps(starter.pid()); }));
  const auto before = memory_of(starter.pid());
  const attached seen = attach(starter.pid(), {"--then", stops ? "stop" : "detach"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  if (stops) {
    CHECK(comes_to_be_left_stopped(starter.pid()));
    for (const pid_t rank : starter.ranks()) ::kill(rank, SIGCONT);
    ::kill(starter.pid(), SIGCONT);
    REQUIRE(comes_true([&] { return sleeps(starter.pid()); }));
  }
  CHECK(before.size() > 5);
  CHECK(changed(before, memory_of(starter.pid())) == std::vector<std::string>{});
  CHECK(runs_freely(starter.pid()));
  for (const pid_t thread : threads_of(starter.pid())) CHECK(armed_in(thread) == 0);
  const int ended = starter.end();
  CHECK(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == 3);
}

TEST_CASE("attach: a second attach right afterwards gives the same report") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  const attached first = attach(starter.pid());
  const attached second = attach(starter.pid());
  CHECK(second.command.exit_code == 0);
  check_table(second.report, starter);
  CHECK(first.report.at("processes") == second.report.at("processes"));
  check_end(starter, 0);
}

TEST_CASE("attach: a second attach names the process that holds the starter") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  running_command first(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  const attached second = attach(starter.pid());
  INFO(second.command.err);
  CHECK(second.command.exit_code == 125);
  CHECK(second.report.is_null());
  CHECK_THAT(second.command.err, ContainsSubstring("process " + std::to_string(first.pid()) + " (mpiacq) traces it"));
  CHECK(starter.value_of("MPIR_being_debugged") == 1);
  ::kill(first.pid(), SIGTERM);
  CHECK(first.wait().exit_code == 128 + SIGTERM);
  check_end(starter, 0);
}

TEST_CASE("attach: each of several simultaneous attaches has the table or names the process that holds the starter") {
  running_starter starter({"starter_pie", "--hold"});
  starter.ready();
  std::vector<std::unique_ptr<running_command>> tools;
  for (int i = 0; i < 8; ++i) tools.push_back(std::make_unique<running_command>(attach_command(starter.pid(), {})));
  int had_it = 0;
  for (const auto& tool : tools) {
    const attached seen = outcome_of(tool->wait());
    INFO(seen.command.err);
    if (seen.command.exit_code == 0) {
      ++had_it;
      check_table(seen.report, starter);
      continue;
    }
    CHECK(seen.command.exit_code == 125);
    CHECK_THAT(seen.command.err, ContainsSubstring("traces it already; end that first"));
  }
  CHECK(had_it >= 1);
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(runs_freely(starter.pid()));
  check_end(starter, 0);
}

TEST_CASE("attach: a job that grows is reported again, and its end ends mpiacq") {
  running_starter starter({"starter_grows", "--step", "--ranks", "6", "--exit", "3"});
  for (int step = 0; step < 2; ++step) starter.ready().go_on();  // spawn, the first half
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  starter.go_on();
  starter.ready().go_on();
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.reports == 2);
  CHECK(seen.report.at("event") == "spawned");
  check_table(seen.report, starter);
  CHECK(seen.report.at("processes").size() == 6);
  CHECK_THAT(seen.command.err, ContainsSubstring("ended: exit status 3"));
  CHECK(starter.said("announcement.2.being_debugged_after") == "1");
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("attach: an abort during the attach is reported with its reason") {
  running_starter starter({"starter_three_states", "--step"});
  for (int step = 0; step < 3; ++step) starter.ready().go_on();  // state 0, spawn, state 1
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  starter.go_on();
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.report.at("event") == "aborting");
  CHECK(seen.report.at("abort_reason") == starter.said("abort_string"));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("attach: a job that aborted before the attach is reported as aborting") {
  running_starter starter({"starter_three_states", "--hold"});
  starter.ready();
  const std::string report = starter.folder().path("report");
  running_command tool(attach_command(starter.pid(), {"--then", "continue", "-o", report}));
  // The file holds the last event.
  REQUIRE(comes_true([&] { return file_contents(report).find("aborting") != std::string::npos; }));
  ::kill(tool.pid(), SIGTERM);
  CHECK(tool.wait().exit_code == 128 + SIGTERM);
  const json seen = json::parse(file_contents(report));
  CHECK(seen.at("event") == "aborting");
  CHECK(seen.at("abort_reason") == starter.said("abort_string"));
  check_table(seen, starter);
  check_end(starter, 0);
}
