// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPICH's mpiexec.hydra with its symbols, as scripts/build-mpich-debug makes it: one thread, a breakpoint that it
// always calls, MPIR_being_debugged never read, no event in attach mode, the table filled in both.
#include <csignal>
#include <filesystem>
#include <set>

#include "attached_job.hpp"
#include "debug_builds.hpp"
#include "real_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::string hydra() {
  return find_mpich_debug().prefix + "/bin/mpiexec.hydra";
}

/// Empty where the tests can run, else why not.
std::string lacking() {
  if (const debug_build mpich = find_mpich_debug(); mpich.prefix.empty()) return mpich.why_not;
  if (!std::filesystem::exists(rank_program("mpi_pids_mpich"))) return "MPICH (libmpich-dev) is not installed";
  return "";
}

std::vector<std::string> hydra_line(int ranks, const std::vector<std::string>& options = {}) {
  std::vector<std::string> line = {hydra(), "-n", std::to_string(ranks), rank_program("mpi_pids_mpich")};
  line.insert(line.end(), options.begin(), options.end());
  return line;
}

}  // namespace

TEST_CASE("MPICH with symbols: launch lists what the ranks print, and keeps the starter's status") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  const int ranks = GENERATE(1, 4);
  const scratch_folder folder;
  const std::string file = folder.path("report");
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", file, "--"};
  for (const std::string& word : hydra_line(ranks, {"--exit", "3"})) line.push_back(word);
  const auto run = run_command(line);
  INFO(run.out << run.err);
  CHECK(run.exit_code == 3);
  const json report = json::parse(file_contents(file));
  CHECK(report.at("event") == "spawned");
  CHECK(report.at("layout").at("source") == "dwarf");
  CHECK(report.at("starter").at("executable") == std::filesystem::canonical(hydra()).string());
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK(pids_reported(report).size() == static_cast<std::size_t>(ranks));
}

TEST_CASE(
    "MPICH with symbols: attach lists what the ranks print, by the starter or a rank, and leaves the job unharmed") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  running_job job(hydra_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);
  for (const long pid : {static_cast<long>(job.pid()), job.ranks().at(2)}) {
    INFO(pid);
    const auto run = attach_json({}, std::to_string(pid));
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    const json report = json::parse(run.out);
    CHECK(report.at("event") == "attached");
    CHECK(report.at("starter").at("pid") == job.pid());
    CHECK(pids_reported(report) == job.ranks());
    CHECK(job.disturbed() == "");
  }
  check_its_own_end(job);
}

TEST_CASE("MPICH with symbols: attach and then stop leaves the ranks asked for stopped, and SIGCONT lets them go on") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  running_job job(hydra_line(4, {"--exit", "3"}), 4);
  const auto some = attach_json({"--then", "stop", "--ranks", "1-2"}, job.pid_text());
  INFO(some.err);
  REQUIRE(some.exit_code == 0);
  CHECK(ranks_stopped(job.ranks(), 2) == std::set<long>{1, 2});
  CHECK(comes_true([&] { return is_stopped(job.pid()); }));
  continue_all(job);
  CHECK(job.finish().as_shell() == 3);
}

TEST_CASE("MPICH with symbols: check does not fail the definitions of the process table") {
  if (const auto why = lacking(); !why.empty()) MPIACQ_SKIP(why);
  std::vector<std::string> line = {MPIACQ_COMMAND, "check", "--json", "--"};
  for (const std::string& word : hydra_line(2)) line.push_back(word);
  const auto run = run_command(line);
  INFO(run.out << run.err);
  CHECK((run.exit_code == 0 || run.exit_code == 1));
  const auto at = run.err.find('{');
  REQUIRE(at != std::string::npos);
  const json report = json::parse(run.err.substr(at));
  std::set<std::string> failed;
  for (const json& clause : report.at("clauses")) {
    if (clause.at("verdict") == "fail") failed.insert(clause.at("id").get<std::string>());
  }
  // Its ranks wait in MPI_Init only as long as the stopped starter does not serve them; nothing else is amiss that the
  // document says must be.
  CHECK_FALSE(failed.contains("9.4a"));
  CHECK_FALSE(failed.contains("9.5a"));
}
