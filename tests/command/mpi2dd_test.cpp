// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// launch, attach and stacks on MPI2DD jobs, as a person runs them.
#include <csignal>
#include <set>

#include "attached.hpp"
#include "catch.hpp"
#include "mpi2dd_launch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("mpi2dd: launch reports each event in order, both worlds, and the rank that spawned the second") {
  const mpi2dd_launch run({"--json"}, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit", "3", "1/spawn=2"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 3);
  // The starter lists the ranks itself: a directory's changes come before what they are for.
  CHECK(events_of(run.reports) ==
        std::vector<std::string>{"directory-changed", "spawned", "directory-changed", "spawned"});
  REQUIRE(run.reports.size() == 4);
  const json& start = run.reports[1];
  CHECK(start.at("schema") == "mpiacq.job/1");
  CHECK(start.at("interface") == "mpi2dd");
  CHECK(start.at("change").at("state") == "MPI2DD_DEBUG_START");
  CHECK(start.at("change").at("raised_by").at("pid") == std::stoi(run.said("starter_pid")));
  CHECK(start.at("starter").at("mode") == "launch");
  CHECK(start.at("layout").at("source") == "fixed");
  CHECK(start.at("symbols").contains("MPI2DD_info"));
  CHECK(start.at("processes").size() == 2);

  const json& spawn = run.reports[3];
  const std::string root = run.said("rank.w0.1.pid");
  CHECK(spawn.at("change").at("state") == "MPI2DD_DEBUG_SPAWN");
  CHECK(spawn.at("change").at("raised_by") == json{{"pid", std::stoi(root)}, {"world", "w0"}, {"rank", 1}});
  REQUIRE(spawn.at("processes").size() == 4);
  const std::string child = spawn.at("worlds").at(1).at("id");
  CHECK(child != "w0");
  for (int i = 0; i < 4; ++i) {
    const json& process = spawn.at("processes").at(static_cast<std::size_t>(i));
    const std::string world = i < 2 ? "w0" : child;
    CHECK(process.at("world") == world);
    CHECK(process.at("rank") == i % 2);
    CHECK(process.at("local") == true);
    CHECK(process.at("pid") == std::stoi(run.said("rank." + world + "." + std::to_string(i % 2) + ".pid")));
    CHECK(process.at("spawned_by") == (i < 2 ? json(nullptr) : json{{"world", "w0"}, {"rank", 1}, {"sequence", 0}}));
  }
  CHECK(run.said("world." + child + ".spawned_by") == "w0 1 0");
}

TEST_CASE("mpi2dd: the text report distinguishes ranks of different worlds") {
  const mpi2dd_launch run({}, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "spawn=1"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  CHECK_THAT(run.command.out, ContainsSubstring("has spawned 2 processes on 1 host"));
  CHECK_THAT(run.command.out, ContainsSubstring("mpiacq: rank 0:0 (pid "));
  CHECK_THAT(run.command.out, ContainsSubstring("has spawned a world: 3 processes on 1 host in 2 worlds"));
  CHECK_THAT(run.command.out, ContainsSubstring("\n  1:0 "));
  CHECK_THAT(run.command.out, ContainsSubstring("  world 0: w0\n"));
  CHECK_THAT(run.command.out, ContainsSubstring(", spawn 0 of rank 0 of world 0\n"));
}

TEST_CASE("mpi2dd: launch says which ranks are not yet in main, and attach says so of none") {
  // ACQUIRED_PRE_MAIN and FORCE_TO_MAIN of the ranks.
  const std::vector<std::string> job_words = {"mpi2dd_starter", "--ranks",   "2", "--world", "w0",
                                              "--below",        "flags,0x28"};
  const mpi2dd_launch run({}, job_words);
  INFO(run.command.err);
  CHECK_THAT(run.command.out, ContainsSubstring("  not yet in main: ranks 0-1\n"));
  CHECK_THAT(run.command.out, ContainsSubstring("  a tool should show main first: ranks 0-1\n"));
  std::vector<std::string> held = job_words;
  held.emplace_back("--hold");
  reference_job job{held};
  job.ready();
  const auto seen = run_command({MPIACQ_COMMAND, "attach", std::to_string(job.pid())});
  INFO(seen.out + seen.err);
  CHECK_THAT(seen.out, ContainsSubstring("a tool should show main first: ranks 0-1"));
  CHECK_THAT(seen.out, !ContainsSubstring("not yet in main"));
}

TEST_CASE("mpi2dd: an abort is reported with its reason and with the rank that raised it") {
  const mpi2dd_launch run({"--json"}, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "1/abort=no memory left"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 134);
  REQUIRE(run.reports.size() >= 2);
  const json& by_rank = run.reports[run.reports.size() - 2];
  const json& by_starter = run.reports.back();
  for (const json* report : {&by_rank, &by_starter}) {
    CHECK(report->at("event") == "aborting");
    CHECK(report->at("abort_reason") == "no memory left");
  }
  CHECK(by_rank.at("change").at("raised_by").at("rank") == 1);
  CHECK(by_starter.at("change").at("raised_by").at("pid") == by_starter.at("starter").at("pid"));
}

TEST_CASE("mpi2dd: attach reports the abort_string of a process that aborted before") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold", "1/aborting=no memory left"}};
  job.ready();
  const pid_t aborts = job.rank("w0", 1);
  const attached seen = attach(job.pid());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.reports == 2);
  CHECK(seen.report.at("event") == "aborting");
  CHECK(seen.report.at("abort_reason") == "no memory left");
  CHECK(seen.report.at("change").at("raised_by").at("pid") == aborts);
  CHECK(seen.report.at("change").at("raised_by").at("rank") == 1);
  CHECK(seen.report.at("processes").size() == 2);

  const auto in_words = run_command({MPIACQ_COMMAND, "attach", std::to_string(aborts)});
  INFO(in_words.out << in_words.err);
  CHECK(in_words.exit_code == 0);
  CHECK_THAT(in_words.out, ContainsSubstring("aborts the job: no memory left"));
  CHECK(comes_true([&] { return runs_freely(aborts) && runs_freely(job.pid()); }));
  job.go_on();
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: attach to a rank finds the whole job and leaves it as it was") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "2",
                     "--hold", "1/spawn_apart=2"}};
  job.ready();
  const std::string world = job.spawned_world(job.rank("w0", 1), 1);
  const pid_t child = job.rank(world, 1);
  const attached seen = attach(child);
  check_attached(seen, job.pid(), "mpi2dd");
  CHECK(seen.report.at("interface") == "mpi2dd");
  CHECK_THAT(seen.report.at("starter").at("found_how").get<std::string>(),
             ContainsSubstring("rank 1 of world " + world));
  REQUIRE(seen.report.at("processes").size() == 4);
  CHECK(seen.report.at("processes").at(3).at("pid") == child);
  CHECK(seen.report.at("processes").at(3).at("world") == world);
  CHECK(seen.report.at("processes").at(3).at("spawned_by") == json{{"world", "w0"}, {"rank", 1}, {"sequence", 0}});
  CHECK(job.look(job.pid()).debugger_flags == 0);
  CHECK((job.look(child).debugger_flags & ~gate) == 0);
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: a starter with both interfaces is acquired through MPI2DD, unless --interface says mpir") {
  const mpi2dd_launch newer({"--json"}, {"mpi2dd_starter_both", "--ranks", "2", "--world", "w0"});
  INFO(newer.command.err);
  REQUIRE_FALSE(newer.reports.empty());
  CHECK(newer.command.exit_code == 0);
  CHECK(newer.reports.back().at("interface") == "mpi2dd");
  CHECK(newer.reports.back().at("starter").at("has_both") == true);
  const mpi2dd_launch in_words({}, {"mpi2dd_starter_both", "--ranks", "2", "--world", "w0"});
  CHECK_THAT(in_words.command.out, ContainsSubstring("the starter has MPI2DD and MPIR"));

  const mpi2dd_launch older({"--json", "--interface", "mpir"},
                            {"mpi2dd_starter_both", "--ranks", "2", "--world", "w0"});
  INFO(older.command.err);
  CHECK(older.command.exit_code == 0);
  REQUIRE(older.reports.size() == 1);
  CHECK(older.reports.back().at("interface") == "mpir");
  CHECK(older.reports.back().at("processes").at(1).at("world") == nullptr);
  // Nobody asked MPI2DD for anything.
  CHECK(older.said(older.said("starter_pid") + ".debugger_flags_at_end") == "0x0");
}

TEST_CASE("mpi2dd: an interface that the starter lacks is an error") {
  const mpi2dd_launch no_mpir({"--interface", "mpir"}, {"mpi2dd_starter", "--ranks", "1"});
  CHECK(no_mpir.command.exit_code == 125);
  CHECK_THAT(no_mpir.command.err, ContainsSubstring("does not define MPIR_"));
  const auto no_mpi2dd = run_command({MPIACQ_COMMAND, "launch", "--interface", "mpi2dd", "--", "/bin/true"});
  CHECK(no_mpi2dd.exit_code == 125);
  CHECK_THAT(no_mpi2dd.err, ContainsSubstring("does not define MPI2DD_info and MPI2DD_breakpoint"));
  const auto attached = run_command({MPIACQ_COMMAND, "attach", "--interface", "mpi2dd", std::to_string(::getpid())});
  CHECK(attached.exit_code == 125);
  CHECK_THAT(attached.err, ContainsSubstring("no process of an MPI2DD job"));
  CHECK(run_command({MPIACQ_COMMAND, "launch", "--interface", "both", "--", "/bin/true"}).exit_code == 125);
}

TEST_CASE("mpi2dd: --each knows the world of a rank, and --ranks selects ranks by their world") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold", "spawn=2"}};
  job.ready();
  const auto run = run_command({MPIACQ_COMMAND, "attach", "--each", "echo {rank} {world} {pid}", "--jobs", "1",
                                "--ranks", "0:1,1:all", std::to_string(job.pid())});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::string world = job.spawned_world(job.rank("w0", 0), 1);
  CHECK_THAT(run.out, ContainsSubstring("\n0:1: 0:1 w0 " + std::to_string(job.rank("w0", 1)) + "\n"));
  CHECK_THAT(run.out, ContainsSubstring("\n1:0: 1:0 " + world + " " + std::to_string(job.rank(world, 0)) + "\n"));
  CHECK_THAT(run.out, ContainsSubstring("\n1:1: 1:1 "));
  CHECK_THAT(run.out, !ContainsSubstring("\n0:0: "));
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: the stacks of all worlds are one tree that distinguishes their ranks") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold", "spawn=2"}};
  job.ready();
  const bool from_rank = GENERATE(false, true);
  const pid_t named = from_rank ? job.rank("w0", 1) : job.pid();
  const auto run = run_command({MPIACQ_COMMAND, "stacks", "--json", std::to_string(named)});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const json stacks = json::parse(run.out);
  CHECK(stacks.at("starter").at("pid") == job.pid());
  REQUIRE(stacks.at("ranks").size() == 4);
  CHECK(stacks.at("ranks").at(3).at("world") == 1);
  CHECK(stacks.at("ranks").at(3).at("rank") == 1);
  for (const json& rank : stacks.at("ranks")) CHECK(rank.at("outcome") == "taken");
  CHECK(stacks.at("tree").at(0).at("ranks") == "0:0-1,1:0-1");
  CHECK(job.end() == 0);
}

TEST_CASE("mpi2dd: the report of a launch contains the stacks") {
  const mpi2dd_launch run({"--json", "--stacks"}, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "spawn=1"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  bool seen = false;
  for (const json& report : run.reports) {
    if (report.at("event") != "spawned") continue;
    seen = true;
    for (const json& rank : report.at("stacks").at("ranks")) CHECK(rank.at("outcome") == "taken");
  }
  CHECK(seen);
}

TEST_CASE("mpi2dd: a job whose mpiacq is killed ends as it would without mpiacq") {
  const scratch_folder folder;
  const std::string port = "killed." + std::to_string(::getpid());
  // The rank waits for somebody to connect, and then spawns: nobody would open a gate any more.
  running_command tool(mpi2dd_launch::words({"--json"}, {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit",
                                                         "3", "accept=" + port, "spawn=1"}),
                       mpi2dd_launch::surroundings(folder));
  const auto said = [&](const std::string& key) {
    const auto all = read_oracle(folder.path("oracle"));
    const auto found = all.find(key);
    return found == all.end() ? std::string() : found->second;
  };
  REQUIRE(comes_true([&] { return said(said("rank.w0.0.pid") + ".does") == "accept " + port; }));
  REQUIRE(comes_true([&] { return said(said("rank.w0.1.pid") + ".left_init") == "1"; }));
  const pid_t starter = std::stoi(said("starter_pid"));
  const auto flags = [&](pid_t pid) {
    return read_info(pid, std::strtoull(said(std::to_string(pid) + ".info").c_str(), nullptr, 16)).debugger_flags;
  };
  const pid_t rank = std::stoi(said("rank.w0.0.pid"));
  CHECK(flags(rank) == (gate | being_debugged | request_directory_events));
  ::kill(tool.pid(), SIGKILL);
  REQUIRE(comes_true([&] { return flags(starter) == 0 && flags(rank) == gate; }));
  reference_job other{{"mpi2dd_starter", "--ranks", "1", "--world", "B", "--hold", "connect=" + port}};
  other.ready();
  REQUIRE(comes_true([&] { return said(std::to_string(starter) + ".exit") == "3"; }));
  CHECK(other.end() == 0);
  for (const std::string number : {"0", "1"}) {
    const std::string pid = said("rank.w0." + number + ".pid");
    CHECK(said(pid + ".exit") == "0");
    CHECK(said(pid + ".wait_status") == "0x0");
  }
  // The job had the tool's standard streams, which end with it.
  CHECK(tool.wait().signal == SIGKILL);
}

TEST_CASE("mpi2dd: a second tool can take over a job that was left stopped, and then its gates open") {
  const scratch_folder folder;
  running_command tool(mpi2dd_launch::words({"--json", "--then", "stop"},
                                            {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit", "3"}),
                       mpi2dd_launch::surroundings(folder));
  const auto said = [&](const std::string& key) { return read_oracle(folder.path("oracle"))[key]; };
  REQUIRE(comes_true([&] { return !said("starter_pid").empty() && is_left_stopped(std::stoi(said("starter_pid"))); }));
  const pid_t starter = std::stoi(said("starter_pid"));
  const pid_t rank = std::stoi(said("rank.w0.1.pid"));
  REQUIRE(comes_true([&] { return is_left_stopped(rank); }));
  const attached next = attach(starter);
  INFO(next.command.err);
  CHECK(next.command.exit_code == 0);
  CHECK(next.report.at("processes").size() == 2);
  for (const std::string number : {"0", "1"}) ::kill(std::stoi(said("rank.w0." + number + ".pid")), SIGCONT);
  ::kill(starter, SIGCONT);
  const auto run = tool.wait();
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.err, ContainsSubstring("left stopped"));
}
