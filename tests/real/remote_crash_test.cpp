// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A rank of Open MPI fails on another host than the tool's: the report names it and has all ranks, and the job ends as
// it does without the tool, also if an agent or the tool is killed while ranks are held at their ends.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "gdb.hpp"
#include "live_process.hpp"
#include "openmpi.hpp"
#include "patience.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr long failing = 5;
const std::string failing_host = "h3";

bool can_crash() {
  return have_openmpi() && std::filesystem::exists(rank_program("mpi_crash_openmpi"));
}

/// Eight ranks, two on each host, in order. Rank 5 fails in this way; if `once_traced`, when it has a tracer.
std::vector<std::string> crash_line(const std::string& kind, bool once_traced,
                                    const std::string& places = "h1:2,h2:2,h3:2,h4:2") {
  std::vector<std::string> line = {mpirun, "--host", places, "-n", "8"};
  if (once_traced) line.insert(line.end(), {"-x", "MPI_CRASH_TRACED=1"});
  line.insert(line.end(), {rank_program("mpi_crash_openmpi"), kind, std::to_string(failing)});
  return line;
}

/// What the command that watches this job prints, and the report.
struct watched_job {
  command_outcome run;
  json report;
};

watched_job watch_crash(const private_hosts& hosts, const std::vector<std::string>& starter,
                        const std::string& folder) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "watch", "--crash",  "--cores", "odd",
                                   "--agents",     "ssh",   "--report", folder,    "--"};
  line.insert(line.end(), starter.begin(), starter.end());
  command_options how = openmpi_options();
  how.limit = patience;
  watched_job done{hosts.run("h1", line, how), {}};
  INFO(done.run.out << done.run.err);
  const auto text = hosts.run("h1", {"cat", folder + "/report.json"});
  REQUIRE(text.exit_code == 0);
  done.report = json::parse(text.out);
  return done;
}

int status_without_tool(const private_hosts& hosts, const std::string& kind) {
  command_options how = openmpi_options();
  how.limit = patience;
  return hosts.run("h1", crash_line(kind, false), how).exit_code;
}

/// "mpi_crash.cpp:LINE", as the rank that fails has printed it.
std::string line_printed(const std::string& out) {
  const std::string before = "fails at ";
  const auto at = out.find(before);
  if (at == std::string::npos) return "nothing was printed";
  return out.substr(at + before.size(), out.find_first_of("\r\n", at) - at - before.size());
}

/// The ranks that are in this function at the moment of the report.
std::string ranks_in(const json& tree, const std::string& function) {
  mpiacq::rank_set all;
  for (const json& node : tree) {
    if (node.dump().find(function) == std::string::npos || !node.contains("ranks")) continue;
    all.add(mpiacq::rank_set::parse(node.at("ranks").get<std::string>()).value());
  }
  return all.text();
}

/// Follows the ranks of a job with the library, until rank 5 has failed and all ranks are held.
class follower {
 public:
  explicit follower(const job_on_hosts& job, const std::string& how = "--follow")
      : process_(job.about({MPIACQ_HOLD_RANKS, MPIACQ_AGENT, how})) {
    std::vector<std::string> expected;
    for (const auto& [rank, pid] : job.ranks()) expected.push_back("followed " + std::to_string(rank));
    REQUIRE(process_.lines_until_ready() == expected);
  }
  [[nodiscard]] std::vector<std::string> wait_for_failure() {
    process_.tell('e');
    return process_.lines_until_ready();
  }
  /// Waits until it ends by itself.
  [[nodiscard]] int end() { return process_.end(); }
  /// The program that has entered the host dies, and the kernel sends SIGKILL to the follower with it.
  void kill() { ::kill(static_cast<pid_t>(process_.pid().value()), SIGKILL); }

 private:
  live_process process_;
};

/// A rank that is followed is traced, also while it is held.
bool all_traced(const job_on_hosts& job) {
  const auto is_traced = [&](const auto& rank) { return job.is_traced(rank.first); };
  return std::all_of(job.ranks().begin(), job.ranks().end(), is_traced);
}

bool all_held(const job_on_hosts& job) {
  const auto is_held = [&](const auto& rank) { return job.is_held(rank.first); };
  return std::all_of(job.ranks().begin(), job.ranks().end(), is_held);
}

bool has_ended(const job_on_hosts& job, long rank) {
  const std::string folder = "/proc/" + std::to_string(job.ranks().at(rank));
  return job.hosts().run(job.places().at(rank), {"test", "-e", folder + "/exe"}).exit_code != 0;
}

}  // namespace

TEST_CASE("Remote crash: a rank of another host fails, and the report names it, its line, and all other ranks") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  struct expected {
    std::string kind, says, function;
  };
  const auto want = GENERATE(expected{"segv", "received SIGSEGV for address 0x10", "write_to"},
                             expected{"abort", "received SIGABRT: it called abort", "fail_as"},
                             expected{"assert", "received SIGABRT: an assertion has failed", "fail_as"},
                             expected{"throw", "received SIGABRT: a C++ exception was not caught", "fail_as"},
                             expected{"mpi_abort", "called MPI_Abort", "fail_as"},
                             expected{"exit", "exited with status 3 before MPI_Finalize", "fail_as"},
                             expected{"exit0", "exited with status 0 before MPI_Finalize", "fail_as"},
                             expected{"kill", "received SIGKILL", "fail_as"});
  INFO(want.kind);
  const std::string folder = hosts.path("crash-" + want.kind);
  const watched_job done = watch_crash(hosts, crash_line(want.kind, true), folder);
  INFO(done.run.out << done.run.err << done.report.dump(1));
  CHECK(done.run.exit_code == status_without_tool(hosts, want.kind));
  CHECK(done.run.exit_code != 0);
  CHECK(done.report.at("why") == "crash");
  const json& verdict = done.report.at("verdict");
  CHECK(verdict.at("basis") == "crash");
  CHECK(verdict.at("ranks") == std::to_string(failing));
  CHECK(verdict.at("sentence") == "rank 5 " + want.says + " at " + line_printed(done.run.out));
  // MPI_Abort tells the launcher, which may end other ranks before this one ends itself.
  const json& ends = done.report.at("crash").at("ends");
  const auto end =
      std::find_if(ends.begin(), ends.end(), [](const json& one) { return one.at("rank") == std::to_string(failing); });
  REQUIRE((end != ends.end() || want.kind == "mpi_abort"));
  if (end != ends.end()) CHECK(end->at("pid") == pids_printed(done.run.out).at(failing));

  // All ranks were held when their stacks were taken: MPI_Barrier still waited for rank 5. Open MPI may have told the
  // others of the failure before, but none of them may have left the call.
  const json& stacks = done.report.at("stacks");
  CHECK(ranks_of_tree(stacks.at("tree")) == "0-7");
  for (const json& rank : stacks.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("host") == hosts_printed(done.run.out).at(rank.at("rank").get<long>()));
  }
  CHECK(ranks_in(stacks.at("tree"), "MPI_Barrier") == "0-4,6-7");
  CHECK(ranks_in(stacks.at("tree"), want.function) == "5");

  // An agent has written the core file. All hosts share the folder.
  const json& core = done.report.at("crash").at("cores").at(0);
  CHECK(done.report.at("crash").at("cores").size() == 1);
  CHECK(core.at("rank") == std::to_string(failing));
  CHECK(core.at("host") == failing_host);
  const std::string path = core.at("path");
  CHECK(path == folder + "/core.5." + std::to_string(pids_printed(done.run.out).at(failing)));
  REQUIRE(std::filesystem::exists(path));
  CHECK(std::filesystem::file_size(path) == core.at("bytes"));
  if (is_installed("gdb")) {
    const auto gdb = run_command(gdb_command({"-ex", "bt", rank_program("mpi_crash_openmpi"), path}), with_patience());
    INFO(gdb.out << gdb.err);
    CHECK_THAT(gdb.out, ContainsSubstring(want.function) && ContainsSubstring(line_printed(done.run.out)));
  }
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote crash: a core file is on the failed rank's host, if hosts do not share the folder") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  // Each host has a TMPDIR of its own.
  const std::string folder = hosts.folder() + "/tmp/crash";
  const watched_job done = watch_crash(hosts, crash_line("segv", true), folder);
  INFO(done.run.out << done.run.err);
  CHECK(done.run.exit_code == 128 + SIGSEGV);
  const json& core = done.report.at("crash").at("cores").at(0);
  CHECK(core.at("host") == failing_host);
  const std::string path = core.at("path");
  CHECK(hosts.run(failing_host, {"stat", "-c", "%s", path}).out == core.at("bytes").dump() + "\n");
  CHECK(hosts.run(failing_host, {"stat", "-c", "%a", folder, path}).out == "700\n600\n");
  for (const std::string host : {"h1", "h2", "h4"}) CHECK(hosts.run(host, {"test", "-e", path}).exit_code != 0);
}

TEST_CASE("Remote crash: a job without ranks on the tool's host is held on all other hosts, and reported") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::string kind = GENERATE("segv", "exit");
  INFO(kind);
  const std::string places = "h2:3,h3:3,h4:2";
  const watched_job done = watch_crash(hosts, crash_line(kind, true, places), hosts.path("elsewhere-" + kind));
  INFO(done.run.out << done.run.err << done.report.dump(1));
  command_options how = openmpi_options();
  how.limit = patience;
  CHECK(done.run.exit_code == hosts.run("h1", crash_line(kind, false, places), how).exit_code);
  const auto printed = hosts_printed(done.run.out);
  REQUIRE(printed.size() == 8);
  for (const auto& [rank, host] : printed) CHECK(host != "h1");
  CHECK_THAT(done.report.at("verdict").at("sentence").get<std::string>(),
             Catch::Matchers::StartsWith("rank 5 ") && Catch::Matchers::EndsWith(" at " + line_printed(done.run.out)));
  // The others were held before Open MPI could end them.
  const json& stacks = done.report.at("stacks");
  for (const json& rank : stacks.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("host") == printed.at(rank.at("rank").get<long>()));
  }
  CHECK(ranks_in(stacks.at("tree"), "MPI_Barrier") == "0-4,6-7");
  const json& core = done.report.at("crash").at("cores").at(0);
  CHECK(core.at("host") == printed.at(failing));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote crash: agents continue ranks that a signal has stopped, if that is asked for") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const bool continues = GENERATE(false, true);
  INFO(continues);
  job_on_hosts job(
      hosts, {mpirun, "--host", "h1:2,h2:2,h3:2,h4:2", "-n", "8", rank_program("mpi_pids_openmpi"), "--exit", "3"});
  // One rank of the tool's host, and one behind an agent.
  const std::vector<long> stopped = {1, failing};
  for (const long rank : stopped) {
    const std::string pid = std::to_string(job.ranks().at(rank));
    REQUIRE(hosts.run(job.places().at(rank), {"kill", "-STOP", pid}).exit_code == 0);
    REQUIRE(comes_true([&] { return job.is_stopped(rank); }));
  }
  follower tool(job, continues ? "--continue" : "--follow");
  CHECK(all_traced(job));
  if (continues) {
    for (const long rank : stopped) CHECK(comes_true([&] { return !job.is_held(rank) && !job.is_stopped(rank); }));
  }
  CHECK(WEXITSTATUS(tool.end()) == 0);
  if (!continues) {
    for (const long rank : stopped) {
      CHECK(comes_true([&] { return !job.is_traced(rank) && job.is_stopped(rank); }));
      const std::string pid = std::to_string(job.ranks().at(rank));
      REQUIRE(hosts.run(job.places().at(rank), {"kill", "-CONT", pid}).exit_code == 0);
    }
  }
  check_left_alone(job, 3);
}

TEST_CASE("Remote crash: an agent is killed while it follows ranks, which go on, and the job ends as it would") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(
      hosts, {mpirun, "--host", "h1:2,h2:2,h3:2,h4:2", "-n", "8", rank_program("mpi_pids_openmpi"), "--exit", "3"});
  follower tool(job);
  CHECK(all_traced(job));
  kill_agents(hosts, "h3");
  CHECK(comes_true([&] { return !job.is_traced(4) && !job.is_traced(5); }));
  for (const long rank : {0, 1, 2, 3, 6, 7}) CHECK(job.is_traced(rank));
  CHECK(tool.end() == 0);
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(8));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote crash: watch names the ranks whose failure it cannot report any more, and the job goes on") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(
      hosts, {mpirun, "--host", "h1:2,h2:2,h3:2,h4:2", "-n", "8", rank_program("mpi_pids_openmpi"), "--exit", "3"});
  const scratch_folder folder;
  const std::string complaints = folder.path("complaints");
  std::vector<std::string> line = job.mpiacq({"watch", "--crash", "--agents", "ssh"});
  line.insert(line.begin(), {"sh", "-c", "exec \"$@\" 2>" + complaints, "sh"});
  running_command watcher(line, with_patience());
  CHECK(comes_true([&] { return all_traced(job); }));
  kill_agents(hosts, failing_host);
  CHECK(comes_true([&] {
    return file_contents(complaints).find("a failure of ranks 4-5 will not be reported: h3: its agent has ended") !=
           std::string::npos;
  }));
  for (const long rank : {0, 1, 2, 3, 6, 7}) CHECK(job.is_traced(rank));
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(8));
  interrupt_mpiacq(watcher);
  CHECK(watcher.wait().exit_code == 128 + SIGINT);
  // The command does not complain of agents that have ended with their ranks.
  const std::string all = file_contents(complaints);
  INFO(all);
  CHECK(all.find("will not be reported") == all.rfind("will not be reported"));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote crash: an agent is killed while it holds a rank at its end, and the job ends as it would") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const int alone = status_without_tool(hosts, "segv");
  job_on_hosts job(hosts, crash_line("segv", true));
  follower tool(job);
  REQUIRE(tool.wait_for_failure() == std::vector<std::string>{"failed 5 signal 11"});
  CHECK(all_held(job));
  kill_agents(hosts, failing_host);
  CHECK(comes_true([&] { return has_ended(job, failing); }));
  CHECK(comes_true([&] { return has_ended(job, 4) || !job.is_traced(4); }));
  CHECK(WEXITSTATUS(tool.end()) == 0);
  const job_end end = job.wait();
  INFO(end.out);
  CHECK(end.as_shell() == alone);
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote crash: the tool is killed while ranks are held at their ends, and the job ends as it would") {
  if (!can_crash()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::string kind = GENERATE("segv", "exit");
  INFO(kind);
  const int alone = status_without_tool(hosts, kind);
  job_on_hosts job(hosts, crash_line(kind, true));
  follower tool(job);
  REQUIRE(tool.wait_for_failure().size() == 1);
  CHECK(all_held(job));
  tool.kill();
  const job_end end = job.wait();
  INFO(end.out);
  CHECK_FALSE(end.timed_out);
  CHECK(end.as_shell() == alone);
  for (const auto& [rank, pid] : job.ranks()) CHECK(comes_true([&, which = rank] { return has_ended(job, which); }));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}
