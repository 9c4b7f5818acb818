// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI 5 and later: launch by PMIx. The ranks wait at their entry points until the starter's server has given the
// pids of all.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>

#include "killed_tool.hpp"
#include "lines_of.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// In Debian 13, where launch asks the server of Open MPI 5 without being told to.
bool is_asked_without_choice() {
  const char* const release = std::getenv("MPIACQ_TREE_RELEASE");
  return release != nullptr && std::string(release) == "trixie";
}

std::vector<std::string> launch_words(const std::string& report, const std::vector<std::string>& starter,
                                      const std::vector<std::string>& options = {}) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", report};
  line.insert(line.end(), options.begin(), options.end());
  const bool is_chosen = std::find(options.begin(), options.end(), "--source") != options.end();
  if (!is_asked_without_choice() && !is_chosen) line.insert(line.end(), {"--source", "pmix"});
  line.emplace_back("--");
  line.insert(line.end(), starter.begin(), starter.end());
  return line;
}

/// The reports of a launch: each is one JSON text on one line.
std::vector<json> reports_in(const std::string& path) {
  std::vector<json> all;
  std::istringstream lines(file_contents(path));
  for (std::string line; std::getline(lines, line) && !lines.eof();) all.push_back(json::parse(line));
  return all;
}

json only_report_in(const std::string& path) {
  const auto all = reports_in(path);
  REQUIRE(all.size() == 1);
  return all.front();
}

bool modified_before(const std::string& earlier, const std::string& later) {
  return std::filesystem::last_write_time(earlier) <= std::filesystem::last_write_time(later);
}

/// The process of that name that a process has started; 0: there is none.
pid_t child_called(pid_t parent, const std::string& called) {
  for (const auto& one : std::filesystem::directory_iterator("/proc")) {
    const std::string number = one.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = file_contents("/proc/" + number + "/stat");
    const auto begin = stat.find('('), end = stat.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) continue;
    if (stat.substr(begin + 1, end - begin - 1) != called) continue;
    std::istringstream rest(stat.substr(end + 1));
    char state = ' ';
    pid_t above = 0;
    if (rest >> state >> above && above == parent) return std::stoi(number);
  }
  return 0;
}

/// A FIFO that ranks with --stay wait for, held open by this program.
class ranks_stay {
 public:
  explicit ranks_stay(const scratch_folder& folder) : path_(folder.path("stay")) {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    hold_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(hold_ >= 0);
  }
  ~ranks_stay() { let_go(); }
  ranks_stay(const ranks_stay&) = delete;
  ranks_stay& operator=(const ranks_stay&) = delete;
  void let_go() {
    if (hold_ >= 0) ::close(hold_);
    hold_ = -1;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int hold_ = -1;
};

}  // namespace

TEST_CASE("Open MPI 5: launch reports all ranks before main, and keeps the streams and the exit status",
          "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto ranks = GENERATE(4, 64);
  const int status = ranks == 4 ? GENERATE(0, 5) : 5;
  const scratch_folder folder;
  const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
  const auto starter = mpirun_line(ranks, {"--after-init", marks, "--exit", std::to_string(status)});
  const auto run = run_command(launch_words(folder.path("report"), starter), openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == status);
  if (status == 0) CHECK(without_waiting_notice(run.err) == "");
  const json report = only_report_in(folder.path("report"));
  CHECK(report.at("source") == "pmix");
  CHECK(report.at("event") == "spawned");
  CHECK(report.at("launcher") == "prrte");
  CHECK(report.at("starter").at("mode") == "launch");
  CHECK(report.at("problems").empty());
  CHECK(report.at("processes").size() == static_cast<std::size_t>(ranks));
  // Each rank has said its pid once, and nothing else stands between.
  CHECK(pids_printed(run.out).size() == static_cast<std::size_t>(ranks));
  CHECK(std::count(run.out.begin(), run.out.end(), '\n') == ranks);
  CHECK(pids_reported(report) == pids_printed(run.out));
  for (const json& process : report.at("processes")) {
    CHECK(process.at("state") == "held");
    CHECK(process.at("local") == true);
    CHECK(process.at("facts") == json::array({"acquired_pre_main", "partial_attach_ok"}));
    CHECK(process.at("executable") == rank_program("mpi_pids_openmpi"));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(modified_before(folder.path("report"), folder.path("rank." + std::to_string(rank))));
  }
}

TEST_CASE("Open MPI 5: launch passes the standard input to rank 0, through a script, too", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const bool is_script = GENERATE(false, true);
  const scratch_folder folder;
  std::vector<std::string> starter = {mpirun, "--oversubscribe", "-n", "2", "cat"};
  if (is_script) starter.insert(starter.begin(), {"sh", "-c", "\"$@\"; exit 9", "sh"});
  std::vector<std::string> line = {"sh", "-c", "printf 'one\\ntwo\\n' | \"$@\"", "sh"};
  const auto words = launch_words(folder.path("report"), starter);
  line.insert(line.end(), words.begin(), words.end());
  const auto run = run_command(line, openmpi_options());
  CHECK(run.out == "one\ntwo\n");
  CHECK(without_waiting_notice(run.err) == "");
  CHECK(run.exit_code == (is_script ? 9 : 0));
  const json report = only_report_in(folder.path("report"));
  CHECK(report.at("source") == "pmix");
  CHECK(report.at("processes").size() == 2);
  CHECK(report.at("starter").at("found_how").is_null() != is_script);
}

TEST_CASE("Open MPI 5: launch takes the source that is chosen, and says why it cannot", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const std::string source = GENERATE("pmix", "environment");
  const scratch_folder folder;
  const auto run =
      run_command(launch_words(folder.path("report"), mpirun_line(2), {"--source", source}), openmpi_options());
  CHECK(run.exit_code == 0);
  CHECK(without_waiting_notice(run.err) == "");
  const json report = only_report_in(folder.path("report"));
  CHECK(report.at("source") == source);
  CHECK(pids_reported(report) == pids_printed(run.out));

  const auto none = run_command(
      {MPIACQ_COMMAND, "launch", "--source", "pmix", "--", "mpiexec.hydra", "-n", "1", "echo", "the rank runs"},
      openmpi_options());
  if (!is_installed("mpiexec.hydra")) return;
  CHECK(none.exit_code == 125);
  CHECK(none.out == "the rank runs\n");
  CHECK_THAT(none.err, ContainsSubstring("is no PMIx server that answers tools"));
  const auto no_program =
      run_command({MPIACQ_COMMAND, "launch", "--", mpirun, "-n", "1", "/no/such/program"}, openmpi_options());
  CHECK(no_program.exit_code > 0);
  CHECK_THAT(no_program.err, ContainsSubstring("no process that it started has the variables"));
  CHECK_THAT(no_program.err, !ContainsSubstring("debug symbols"));
}

TEST_CASE("Open MPI 5: launch leaves ranks stopped before main, and ends a job", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
  running_command stopped(
      launch_words(folder.path("report"), mpirun_line(3, {"--after-init", marks, "--exit", "4"}), {"--then", "stop"}),
      openmpi_options());
  REQUIRE(stopped.complains("are left stopped, and the starter runs"));
  const auto pids = pids_reported(only_report_in(folder.path("report")));
  REQUIRE(pids.size() == 3);
  CHECK(ranks_stopped(pids, 3).size() == 3);
  for (const auto& [rank, pid] : pids) {
    CHECK_FALSE(std::filesystem::exists(folder.path("rank." + std::to_string(rank))));
    ::kill(static_cast<pid_t>(pid), SIGCONT);
  }
  CHECK(stopped.wait().exit_code == 4);

  const auto killed =
      run_command(launch_words(folder.path("killed"), mpirun_line(2), {"--then", "kill"}), openmpi_options());
  CHECK_FALSE(killed.timed_out);
  CHECK(killed.exit_code != 0);
  for (const auto& [rank, pid] : pids_reported(only_report_in(folder.path("killed")))) {
    CHECK(comes_true([pid = pid] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; }));
  }
}

TEST_CASE("Open MPI 5: launch reports the worlds that the job spawns", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  ranks_stay stay(folder);
  const std::string report = folder.path("report");
  running_command run(launch_words(report, {mpirun, "--oversubscribe", "-n", "1", rank_program("mpi_spawn_openmpi"),
                                            "--stay", stay.path()}),
                      openmpi_options());
  REQUIRE(comes_true([&] {
    const auto all = reports_in(report);
    return !all.empty() && all.back().at("processes").size() == 3;
  }));
  stay.let_go();
  const auto end = run.wait();
  INFO(end.err);
  CHECK(end.exit_code == 0);
  const auto all = reports_in(report);
  CHECK(all.back().at("source") == "pmix");
  std::set<long> reported;
  for (const json& process : all.back().at("processes")) reported.insert(process.at("pid").get<long>());
  std::set<long> printed;
  for (const auto& [rank, pid] : pids_printed(end.out)) printed.insert(pid);
  CHECK(printed.size() == 3);
  CHECK(reported == printed);
}

TEST_CASE("Open MPI 5: the death of the process that asks PMIx leaves a launched job as it is", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (!is_asked_without_choice()) MPIACQ_SKIP("a tool that is killed is known to harm jobs of other releases of PRRTE");
  const scratch_folder folder;
  ranks_stay stay(folder);
  running_command run(launch_words(folder.path("report"), mpirun_line(3, {"--exit", "6", "--stay", stay.path()})),
                      openmpi_options());
  REQUIRE(comes_true([&] { return !reports_in(folder.path("report")).empty(); }));
  const pid_t helper = child_called(run.pid(), "pmix-host");
  REQUIRE(helper > 0);
  ::kill(helper, SIGKILL);
  CHECK(run.complains("PMIx tells no more of this job"));
  stay.let_go();
  const auto end = run.wait();
  CHECK(end.exit_code == 6);
  for (const char* rank : {"rank 0 ends", "rank 1 ends", "rank 2 ends"}) CHECK_THAT(end.out, ContainsSubstring(rank));
}

TEST_CASE("Open MPI 5: mpiacq killed at any moment of a launch by PMIx leaves the job ending as it would have",
          "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (!is_asked_without_choice()) MPIACQ_SKIP("a tool that is killed is known to harm jobs of other releases of PRRTE");
  const char* const wanted = std::getenv("MPIACQ_TEST_ROUNDS");
  const int rounds = wanted == nullptr ? 12 : std::atoi(wanted);
  const int jobs_orphaned = check_killed_launches({rounds, 5, [](const auto& report, const auto& options) {
                                                     return launch_words(report, mpirun_line(4, options));
                                                   }});
  if (wanted != nullptr) WARN(jobs_orphaned << " of " << rounds << " jobs lost their tool and ended with 5");
}

namespace {

/// What the tool's daemon has written; a daemon that is started twice writes two files.
std::map<std::string, std::string> only_daemon_of(const scratch_folder& folder) {
  std::vector<std::string> found;
  const auto look = [&] {
    found.clear();
    const std::filesystem::path file(folder.path("daemon"));
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("daemon.") && !name.ends_with(".new")) found.push_back(entry.path());
    }
    return !found.empty();
  };
  CHECK(comes_true(look));
  REQUIRE(found.size() == 1);
  return read_oracle(found.front());
}

void check_daemon(const scratch_folder& folder) {
  const auto daemon = only_daemon_of(folder);
  CHECK(daemon.at("program") == rank_program("tool_daemon"));
  CHECK(daemon.at("arguments") == "2");
  CHECK(daemon.at("argument1") == folder.path("daemon"));
  CHECK(daemon.at("argument2") == "two words'\"");
  CHECK(daemon.at("namespace").starts_with("prterun-"));
}

}  // namespace

TEST_CASE("Open MPI 5: launch and attach have the tool's daemon started, whose failure is not the job's",
          "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder launched, attached;
  const auto with_daemon = [](const scratch_folder& folder) {
    return std::vector<std::string>{"--daemon", rank_program("tool_daemon"), "--daemon-arg", folder.path("daemon"),
                                    "--daemon-arg=two words'\""};
  };
  const auto run = run_command(
      launch_words(launched.path("report"), mpirun_line(2, {"--exit", "5"}), with_daemon(launched)), openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 5);
  CHECK_THAT(run.err, ContainsSubstring("the starter has launched the daemons"));
  check_daemon(launched);
  CHECK(pids_reported(only_report_in(launched.path("report"))) == pids_printed(run.out));

  running_job job(mpirun_line(2), 2);
  REQUIRE(job.ranks().size() == 2);
  const auto attach = [&](const std::vector<std::string>& options) {
    std::vector<std::string> line = {MPIACQ_COMMAND, "attach", "--json", "--source", "pmix"};
    line.insert(line.end(), options.begin(), options.end());
    line.push_back(job.pid_text());
    return run_command(line, openmpi_options());
  };
  const auto beside = attach(with_daemon(attached));
  INFO(beside.err);
  CHECK(beside.exit_code == 0);
  CHECK_THAT(beside.err, ContainsSubstring("the starter has launched the daemons"));
  CHECK(json::parse(beside.out).at("facts").at("daemons") == "done");
  check_daemon(attached);
  CHECK(attach({"--daemon", "/bin/sh", "--daemon-arg", "-c", "--daemon-arg", "echo noise; kill -9 $$"}).exit_code == 0);
  CHECK(attach({"--daemon", "/nowhere/daemon"}).exit_code == 0);
  const auto end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 0);
  CHECK(end.out.find("noise") == std::string::npos);
}
