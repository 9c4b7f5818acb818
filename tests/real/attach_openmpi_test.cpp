// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq attach on the distribution's mpirun, while its job runs.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include <sys/stat.h>

#include "attached_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

int being_debugged(const running_job& job) {
  return int_of_symbol(job.pid(), openmpi_library, "MPIR_being_debugged");
}

void check_unharmed(const running_job& job) {
  CHECK(job.disturbed() == "");
  CHECK(being_debugged(job) == 0);
}

}  // namespace

TEST_CASE("Open MPI: attach lists what the ranks print, by the starter or by a rank, and leaves the job unharmed") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);
  const std::string image = image_of(job.pid(), openmpi_library);
  REQUIRE_FALSE(image.empty());

  const auto run = attach_json({}, job.pid_text());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err == "");
  const json report = json::parse(run.out);
  CHECK(report.at("event") == "attached");
  CHECK(report.at("starter").at("mode") == "attach");
  CHECK(report.at("starter").at("pid") == job.pid());
  CHECK(report.at("starter").at("found_how").is_null());
  CHECK(report.at("problems").empty());
  CHECK(pids_reported(report) == job.ranks());
  for (const json& process : report.at("processes")) {
    CHECK(process.at("local") == true);
    CHECK(process.at("state") == "running");
    CHECK(process.at("executable") == rank_program("mpi_pids_openmpi"));
  }
  check_unharmed(job);

  const std::string rank = std::to_string(job.ranks().at(2));
  const auto by_rank = attach_json({}, rank);
  INFO(by_rank.err);
  REQUIRE(by_rank.exit_code == 0);
  const json same = json::parse(by_rank.out);
  CHECK(pids_reported(same) == job.ranks());
  CHECK(same.at("starter").at("pid") == job.pid());
  const std::string found_how = same.at("starter").at("found_how");
  CHECK_THAT(found_how, ContainsSubstring(rank + " ("));
  CHECK_THAT(found_how, ContainsSubstring("ancestor " + job.pid_text() + " ("));
  CHECK_THAT(found_how, ContainsSubstring("as rank 2"));
  check_unharmed(job);
  CHECK(image_of(job.pid(), openmpi_library) == image);
  check_its_own_end(job);
}

TEST_CASE("Open MPI: attach and then stop leaves the ranks asked for stopped, for the next tool and for SIGCONT") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);

  const auto some = attach_json({"--then", "stop", "--ranks", "1-2"}, job.pid_text());
  INFO(some.err);
  REQUIRE(some.exit_code == 0);
  CHECK(states_reported(json::parse(some.out)) ==
        std::map<long, std::string>{{0, "running"}, {1, "held"}, {2, "held"}, {3, "running"}});
  CHECK_THAT(some.err, ContainsSubstring("kill -CONT " + job.pid_text()));
  CHECK(comes_true([&] { return is_stopped(job.pid()); }));
  CHECK(ranks_stopped(job.ranks(), 2) == std::set<long>{1, 2});
  CHECK(being_debugged(job) == 0);

  // A second tool finds what is stopped stopped, and leaves it so.
  const auto again = attach_json({}, job.pid_text());
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(states_reported(json::parse(again.out)) ==
        std::map<long, std::string>{{0, "running"}, {1, "stopped"}, {2, "stopped"}, {3, "running"}});
  CHECK(comes_true([&] { return is_stopped(job.pid()); }));
  CHECK(ranks_stopped(job.ranks(), 2) == std::set<long>{1, 2});

  const auto all = attach_json({"--then", "stop"}, job.pid_text());
  INFO(all.err);
  REQUIRE(all.exit_code == 0);
  CHECK(comes_true([&] { return is_stopped(job.pid()); }));
  CHECK(ranks_stopped(job.ranks(), 4) == std::set<long>{0, 1, 2, 3});

  continue_all(job);
  check_unharmed(job);
  check_its_own_end(job);
}

TEST_CASE(
    "Open MPI: attach and then continue stays to the job's end, and a second attach meanwhile names the attached "
    "tool") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);
  const staying_attach first(job);

  const auto second = attach_json({}, job.pid_text());
  CHECK(second.exit_code == 125);
  CHECK(second.out == "");
  CHECK_THAT(second.err, ContainsSubstring("process " + std::to_string(first.pid()) + " (mpiacq) traces it already"));

  check_its_own_end(job);
  first.check_end();
  CHECK(pids_reported(json::parse(first.report())) == job.ranks());
}

TEST_CASE("Open MPI: attach and then kill ends mpirun and its ranks, and says how it ended") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4), 4);
  REQUIRE(job.ranks().size() == 4);
  const auto run = attach_json({"--then", "kill"}, job.pid_text());
  INFO(run.err);
  CHECK_FALSE(run.timed_out);
  CHECK(run.exit_code == 0);
  const job_end end = job.wait();
  CHECK_FALSE(end.timed_out);
  CHECK(end.as_shell() != 0);
  CHECK_FALSE(end.all_ranks_ended(4));
  CHECK_THAT(run.err, ContainsSubstring("ended: exit status " + std::to_string(end.as_shell())));
  check_ranks_are_gone(job);
}

TEST_CASE("Open MPI: a program that is not MPI has no table, and attach waits for one up to its time limit") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job({mpirun, "--oversubscribe", "-n", "2", rank_program("plain_pids"), "--exit", "3"}, 2);
  REQUIRE(job.ranks().size() == 2);
  const auto run = attach_json({"--timeout", "0.5"}, job.pid_text());
  INFO(run.err);
  CHECK(run.exit_code == 125);
  CHECK(run.out == "");
  CHECK_THAT(run.err, ContainsSubstring("(pid " + job.pid_text() + ") has had no process table within 0.5 s"));
  check_unharmed(job);
  check_its_own_end(job);
}

TEST_CASE("Open MPI: a wrapper that execs mpirun is followed") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  const std::string script = folder.path("wrapper.sh");
  std::ofstream(script) << "#!/bin/sh\nTHROUGH=wrapper exec env -u NOTHING \"$@\"\n";
  REQUIRE(::chmod(script.c_str(), 0755) == 0);
  const auto wrapper = GENERATE_COPY(std::vector<std::string>{script}, std::vector<std::string>{"env", "X=1"},
                                     std::vector<std::string>{"sh", "-c", "exec \"$@\"", "sh"});
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report"), "--"};
  line.insert(line.end(), wrapper.begin(), wrapper.end());
  const auto starter = mpirun_line(2, {"--exit", "3"});
  line.insert(line.end(), starter.begin(), starter.end());
  const auto run = run_command(line, openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  REQUIRE(pids_printed(run.out).size() == 2);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK_THAT(report.at("starter").at("executable").get<std::string>(), ContainsSubstring("orterun"));
}

TEST_CASE("Open MPI: a PMIx server before version 5 is not asked, and the job is found by its MPIR table") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(2, {"--exit", "3"}), 2);
  REQUIRE(job.ranks().size() == 2);
  const auto asked = run_command({MPIACQ_COMMAND, "stacks", "--source", "pmix", job.pid_text()}, openmpi_options());
  CHECK(asked.exit_code == 125);
  CHECK_THAT(asked.err, ContainsSubstring("was not asked"));
  for (const std::string& named : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    const auto run = run_command({MPIACQ_COMMAND, "stacks", "--json", named}, openmpi_options());
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(json::parse(run.out).at("source") == "mpir");
  }
  check_unharmed(job);
  check_its_own_end(job);
}
