// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI 5 and later: its jobs by PMIx.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "found_job.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// 'S', 'T': field 3 of /proc/PID/stat.
char state_letter(long pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  return text.at(text.rfind(')') + 2);
}

/// What ranks of mpi_pids print, in order; the order of the ranks' lines is any.
std::vector<std::string> lines_of(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The job is left alone, and its output has the lines of its ranks, and none of its starter.
void check_output_alone(running_job& job) {
  const auto end = check_left_alone(job, 0);
  const auto lines = lines_of(end.out);
  INFO(end.out);
  CHECK(lines.size() == 2 * job.ranks().size());
  CHECK(std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("rank ") && (line.ends_with(" ends") || line.find(" pid ") != std::string::npos);
  }));
}

/// The files in which the servers below a folder say where they listen.
std::vector<std::string> rendezvous_below(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("pmix.") && name.find(".tool") != std::string::npos && entry.is_regular_file()) {
      found.push_back(entry.path());
    }
  }
  return found;
}

/// The second line of the file is the server's version.
void state_version(const std::string& file, const std::string& version) {
  const std::string text = file_contents(file);
  const std::size_t first = text.find('\n') + 1;
  std::ofstream(file) << text.substr(0, first) << version << text.substr(text.find('\n', first));
}

std::vector<std::string> mpirun_with(const std::vector<std::string>& variables, int ranks) {
  std::vector<std::string> line = {"env"};
  line.insert(line.end(), variables.begin(), variables.end());
  const auto starter = mpirun_line(ranks);
  line.insert(line.end(), starter.begin(), starter.end());
  return line;
}

/// The job by its starter and by a rank: the environment shows it, and the report says why PMIx does not.
void check_without_pmix(const running_job& job, const std::string& reason) {
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    const json stacks = report_of({"stacks", "--json", pid});
    check_stacks(stacks, job, "environment");
    CHECK_THAT(stacks.at("problems").dump(), ContainsSubstring(reason));
    const json attached = report_of({"attach", "--json", pid});
    CHECK(attached.at("source") == "environment");
    CHECK(pids_reported(attached) == job.ranks());
    CHECK_THAT(attached.at("problems").dump(), ContainsSubstring(reason));
  }
  const auto alone = run_command({MPIACQ_COMMAND, "stacks", "--source", "pmix", job.pid_text()}, openmpi_options());
  CHECK(alone.exit_code == 125);
  CHECK_THAT(alone.err, ContainsSubstring(reason));
}

}  // namespace

TEST_CASE("Open MPI 5: a job by mpirun and by each of its ranks, from PMIx", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto ranks = GENERATE(4, 32);
  const int status = ranks == 4 ? 3 : 0;
  running_job job(mpirun_line(ranks, {"--exit", std::to_string(status)}), static_cast<std::size_t>(ranks));
  REQUIRE(job.ranks().size() == static_cast<std::size_t>(ranks));
  if (is_asked_by_default(job)) check_listed(report_of({"jobs", "--json"}), job, "pmix", "prrte");
  if (ranks == 4) {
    for (const std::string& pid : pids_of(job))
      check_stacks(report_of({"stacks", "--json", pid}), job, usual_source(job));
  }
  check_stacks(report_of({"stacks", "--json", "--source", "pmix", job.pid_text()}), job, "pmix");
  check_left_alone(job, status);
}

TEST_CASE("Open MPI 5: the queues by mpirun and by a rank name the deadlock, from PMIx", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const running_job job(deadlock_line(), 3);
  REQUIRE(job.ranks().size() == 3);
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    deadlock_reported(pid, "pmix");
  }
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
}

TEST_CASE("Open MPI 5: attach by mpirun and by a rank reports the job, and its ranks can be left stopped",
          "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 3;
  running_job job(mpirun_line(ranks, {"--exit", "4"}), ranks);
  REQUIRE(job.ranks().size() == ranks);
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    const json report = report_of({"attach", "--json", "--source", "pmix", pid});
    CHECK(report.at("source") == "pmix");
    CHECK(report.at("starter").at("pid") == job.pid());
    REQUIRE(report.at("processes").size() == ranks);
    for (const json& entry : report.at("processes")) {
      CHECK(entry.at("pid") == job.ranks().at(entry.at("rank")));
      CHECK(entry.at("state") == "running");
    }
  }
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  const auto stopped =
      run_command({MPIACQ_COMMAND, "attach", "--source", "pmix", "--then", "stop", job.pid_text()}, openmpi_options());
  INFO(stopped.err);
  CHECK(stopped.exit_code == 0);
  for (const auto& [rank, pid] : job.ranks()) {
    CHECK(comes_true([pid = pid] { return state_letter(pid) == 'T'; }));
    ::kill(static_cast<pid_t>(pid), SIGCONT);
  }
  CHECK(comes_true([&] { return state_letter(job.pid()) == 'S'; }));
  check_left_alone(job, 4);
}

TEST_CASE("Open MPI 5: another TMPDIR, a server of another version, and no rendezvous file", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 2;
  const scratch_folder theirs, ours;
  running_job job(mpirun_with({"TMPDIR=" + theirs.path("")}, ranks), ranks);
  REQUIRE(job.ranks().size() == ranks);
  const auto files = rendezvous_below(theirs.path(""));
  REQUIRE_FALSE(files.empty());
  command_options elsewhere;
  elsewhere.environment["TMPDIR"] = ours.path("");
  for (const std::string& pid : pids_of(job)) {
    check_stacks(report_of({"stacks", "--json", pid}, elsewhere), job, usual_source(job));
    const json attached = report_of({"attach", "--json", pid}, elsewhere);
    CHECK(attached.at("source") == usual_source(job));
    CHECK(pids_reported(attached) == job.ranks());
  }

  for (const std::string& file : files) state_version(file, "7.0.0");
  check_without_pmix(job, "the PMIx server of the job has version 7.0.0, and the library");

  for (const std::string& file : files) std::filesystem::remove(file);
  // The variables of a rank say where the server listens.
  for (const std::string& pid : pids_of(job))
    check_stacks(report_of({"stacks", "--json", pid}), job, usual_source(job));

  check_output_alone(job);
}

TEST_CASE("Open MPI 5: a library of PMIx that was replaced since the starter has loaded it", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto known = run_command({"sh", "-c", "ldd $(command -v prte) | awk '/libpmix/ { print $3 }'"});
  REQUIRE(known.exit_code == 0);
  const std::filesystem::path library = known.out.substr(0, known.out.find('\n'));
  const scratch_folder folder;
  const std::string copy = folder.path(library.filename());
  std::filesystem::copy_file(library, copy);
  constexpr std::size_t ranks = 2;
  running_job job(mpirun_with({"LD_LIBRARY_PATH=" + folder.path("")}, ranks), ranks);
  REQUIRE(job.ranks().size() == ranks);
  REQUIRE(file_contents("/proc/" + job.pid_text() + "/maps").find(copy) != std::string::npos);
  std::filesystem::copy_file(library, folder.path("newer"));
  std::filesystem::rename(folder.path("newer"), copy);
  check_without_pmix(job, "the file was removed or replaced since the server has loaded it");
  check_output_alone(job);
}

TEST_CASE("Open MPI 5: attach follows the job to its end", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 2;
  const running_job job(mpirun_line(ranks), ranks);
  REQUIRE(job.ranks().size() == ranks);
  if (!is_asked_by_default(job)) MPIACQ_SKIP("with this release of PRRTE a starter ends only after the tool has gone");
  const scratch_folder folder;
  const std::string report = folder.path("report");
  running_command follower(
      {MPIACQ_COMMAND, "attach", "--source", "pmix", "--then", "continue", "-o", report, job.pid_text()},
      openmpi_options());
  // A rank is killed while the job is followed.
  REQUIRE(comes_true([&] { return !file_contents(report).empty(); }));
  ::kill(static_cast<pid_t>(job.ranks().at(1)), SIGKILL);
  const auto followed = follower.wait();
  INFO(followed.out + followed.err);
  CHECK(followed.exit_code == 0);
  CHECK_THAT(followed.err + followed.out + file_contents(report), ContainsSubstring("have ended; rank 1 caused it"));
  CHECK_THAT(followed.err, ContainsSubstring(" ended"));
}

TEST_CASE("Open MPI 5: PMIx is asked a hundred times, and the asking tool killed, without harm", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 2;
  running_job job(mpirun_line(ranks, {"--exit", "5"}), ranks);
  REQUIRE(job.ranks().size() == ranks);
  for (int round = 0; round < 100; ++round) {
    // The tool dies after 0 to 99 ms: before, while and after it asks.
    char time[16];
    std::snprintf(time, sizeof time, "%.3f", round / 1000.0);
    (void)run_command({"timeout", "-s", "KILL", time, MPIACQ_COMMAND, "jobs"}, openmpi_options());
  }
  check_stacks(report_of({"stacks", "--json", job.pid_text()}), job, usual_source(job));
  check_left_alone(job, 5);
}
