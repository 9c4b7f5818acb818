// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch when its report cannot be written, when it is killed, and when the job ends under it. The job goes on as
// if mpiacq were not there, and no half of a report is left.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "another_user.hpp"
#include "catch.hpp"
#include "launched.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;
namespace files = std::filesystem;

namespace {

std::vector<std::string> faults_line(std::vector<std::string> options, const queue_job& job) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "watch", "--trust-library"});
  options.push_back(std::to_string(job.pid()));
  return options;
}

command_options within_two_minutes() {
  command_options how;
  how.limit = std::chrono::seconds(120);
  return how;
}

/// The report as text has come to standard error in place of the files.
void check_shown(const command_outcome& run, const std::string& tried, const std::string& answer) {
  INFO(run.err);
  CHECK_THAT(run.err, ContainsSubstring(tried) && ContainsSubstring(answer) &&
                          ContainsSubstring("mpiacq: the report follows as text\n") &&
                          ContainsSubstring("\nwho waits for whom\n"));
  CHECK(run.err.find("(report in ") == std::string::npos);
}

/// What is wrong with the files in a folder of reports; empty if each is a whole report.
std::string half_reports(const std::string& folder) {
  std::string wrong;
  std::error_code none;
  for (const auto& file : files::directory_iterator(folder, none)) {
    const std::string name = file.path().filename(), text = file_contents(file.path());
    const std::string form = name.ends_with(".part") ? name.substr(0, name.find('.', name.find('.') + 1)) : name;
    const bool is_whole = form == "report.html"   ? text.ends_with("</html>\n")
                          : form == "report.json" ? json::accept(text)
                          : form == "report.txt"
                              ? text.find("\n  source: ") != std::string::npos && text.ends_with("\n")
                              : false;
    if (!is_whole) wrong += name + " ";
  }
  return wrong;
}

/// A file system of 64 kB, which is gone with the object.
class small_disk {
 public:
  small_disk() : is_there_(::mount("none", path().c_str(), "tmpfs", 0, "size=64k") == 0) {}
  ~small_disk() {
    if (is_there_) ::umount2(path().c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] std::string path() const { return folder_.path(""); }

 private:
  scratch_folder folder_;
  bool is_there_;
};

}  // namespace

TEST_CASE("watch faults: on a full disk the report is shown as text, and no part of a file is left") {
  const small_disk disk;
  if (!disk.is_there()) MPIACQ_SKIP("only root can mount a small file system");
  queue_job job(2, words_of_a_deadlock());
  // The folder can be made, and the disk fills up later.
  const std::string reports = disk.path() + "reports";
  running_command watcher(faults_line({"--timeout", "2", "--report", reports, "--then", "kill"}, job),
                          within_two_minutes());
  REQUIRE(comes_true([&] { return files::exists(reports); }));
  const int filler = ::open((disk.path() + "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string block(4096, 'x');
  while (::write(filler, block.data(), block.size()) > 0) continue;
  ::close(filler);
  const auto run = watcher.wait();
  CHECK(run.exit_code == 124);
  check_shown(run, "writing the report file " + reports + "/report.txt", "No space left on device");
  CHECK(files::is_empty(reports));
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return process_state(rank) == ' '; }));
}

TEST_CASE("watch faults: a report that cannot be kept does not change the starter's status") {
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  const auto status = GENERATE(0, 3);
  // The ranks of the fixture wait in no call: the report is asked for by the time. A file takes the folder's place.
  const std::string starter = fixture("../queue_ranks/queue_job");
  const std::string body = "rm -rf " + reports + "; touch " + reports + "; sleep 4 | " + starter +
                           " --hold --ranks 2 library:" + queue_library("perfect") + " in:MPI_Recv @all; exit " +
                           std::to_string(status);
  const auto run = run_command(
      {MPIACQ_COMMAND, "watch", "--trust-library", "--timeout", "2", "--report", reports, "--", "sh", "-c", body},
      within_two_minutes());
  INFO(run.err);
  CHECK(run.exit_code == status);
  check_shown(run, "creating the report file " + reports + "/report.txt", "Not a directory");
  CHECK(files::is_regular_file(reports));
}

TEST_CASE("watch faults: a folder that cannot be used is reported with what to do, and nothing is started") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  command_options how;
  std::string reports = folder.path("reports"), answer;
  SECTION("a file in its place") {
    std::ofstream(reports) << "mine";
    answer = "Not a directory";
  }
  SECTION("the folder above does not exist") {
    reports = folder.path("none") + "/reports";
    answer = "No such file or directory";
  }
  SECTION("a folder without the right to write") {
    MPIACQ_NEEDS_ANOTHER_USER();
    ::chmod(folder.path("").c_str(), 0755);
    files::create_directory(reports);
    how.as_nobody = true;
    answer = "Permission denied";
  }
  SECTION("a read-only file system") {
    reports = "/proc/reports";
    answer = "No such file or directory";
  }
  const auto run = run_command({MPIACQ_COMMAND, "watch", "--hang", "1", "--report", reports, "--", "touch", mark}, how);
  INFO(run.err);
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring(reports) && ContainsSubstring(answer) &&
                          ContainsSubstring("name a folder that you can write to (--report DIR)"));
  CHECK_FALSE(files::exists(mark));
}

TEST_CASE("watch faults: a folder that is removed is made again") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  running_command watcher(faults_line({"--crash", "--timeout", "2", "--report", reports, "--then", "kill"}, job),
                          within_two_minutes());
  // A rank that is followed shows that the watch has begun, and that the folder has been checked.
  const std::string status = "/proc/" + std::to_string(job.ranks().front()) + "/status";
  REQUIRE(comes_true([&] { return file_contents(status).find("TracerPid:\t0\n") == std::string::npos; }));
  REQUIRE(files::remove(reports));
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 124);
  CHECK(std::distance(files::directory_iterator(reports), {}) == 3);
  CHECK(half_reports(reports) == "");
}

TEST_CASE("watch faults: a rank that is killed while it is held for the report of a failure is in that report") {
  // While the core file is written, all ranks are held for the report. So that it is met, it may take several jobs.
  constexpr int most_jobs = 20;
  for (int attempt = 1; attempt <= most_jobs; ++attempt) {
    queue_job job(2, words_of_a_deadlock());
    const scratch_folder folder;
    const std::string reports = folder.path("reports");
    running_command watcher(faults_line({"--crash", "--cores", "first", "--report", reports}, job),
                            within_two_minutes());
    const auto ranks = job.ranks();
    for (const pid_t rank : ranks) REQUIRE(comes_true([rank] { return status_of(rank, "TracerPid") != "0"; }));
    ::kill(ranks.at(1), SIGSEGV);
    const std::string core = reports + "/core.1." + std::to_string(ranks.at(1));
    const auto has_ended = [](char state) { return state == 'Z' || state == 'X' || state == ' '; };
    // Without a pause between two looks: the core file is small.
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (::access(core.c_str(), F_OK) != 0 && !has_ended(process_state(ranks.at(1)))) {
      REQUIRE(std::chrono::steady_clock::now() < until);
    }
    ::kill(ranks.at(0), SIGKILL);
    const auto run = watcher.wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    const json report = json::parse(file_contents(reports + "/report.json"));
    const json& ends = report.at("crash").at("ends");
    INFO(ends.dump(1));
    if (attempt < most_jobs && (ends.size() != 2 || ends.at(1).at("while_held") != true)) continue;
    REQUIRE(ends.size() == 2);
    CHECK(ends.at(0).at("rank") == "1");
    CHECK(ends.at(0).at("signal") == SIGSEGV);
    CHECK(ends.at(0).at("while_held") == false);
    CHECK(ends.at(1).at("rank") == "0");
    CHECK(ends.at(1).at("pid") == ranks.at(0));
    CHECK(ends.at(1).at("signal") == SIGKILL);
    CHECK(ends.at(1).at("while_held") == true);
    CHECK(ends.at(1).at("registers").is_object());
    CHECK(report.at("verdict").at("ranks") == "1");
    for (const char* const form : {"/report.txt", "/report.html"}) {
      CHECK_THAT(file_contents(reports + form), ContainsSubstring("SIGKILL, while it was held for this report"));
    }
    return;
  }
}

TEST_CASE("watch faults: links and pipes that somebody puts into the folder lead to no other file") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder, others;
  const std::string reports = folder.path("reports"), victim = others.path("victim");
  std::ofstream(victim) << "precious";
  files::create_directory(reports);
  files::create_symlink(victim, reports + "/report.txt");
  files::create_symlink("/dev/null", reports + "/report.json");
  REQUIRE(::mkfifo((reports + "/report.html").c_str(), 0600) == 0);
  // Root writes into the folder of another user.
  if (::geteuid() == 0) REQUIRE(::chown(reports.c_str(), 65534, 65534) == 0);
  const auto run =
      run_command(faults_line({"--timeout", "1", "--report", reports, "--then", "kill"}, job), within_two_minutes());
  INFO(run.err);
  CHECK(run.exit_code == 124);
  CHECK(file_contents(victim) == "precious");
  for (const char* name : {"report.txt", "report.json", "report.html"}) {
    CHECK(files::symlink_status(reports + "/" + name).type() == files::file_type::regular);
  }
  CHECK(half_reports(reports) == "");
}

TEST_CASE("watch faults: mpiacq is killed while it makes a report, and leaves whole files and running ranks") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  const auto line = faults_line({"--timeout", "0.1", "--report", reports}, job);
  // How long a report takes from the start of the command on this machine, now.
  const auto begin = std::chrono::steady_clock::now();
  {
    running_command whole(line, within_two_minutes());
    REQUIRE(comes_true([&] { return files::exists(reports + "/report.html"); }));
  }
  const auto whole_time = std::chrono::steady_clock::now() - begin;
  int without = 0;
  constexpr int rounds = 24;
  for (int round = 0; round < rounds; ++round) {
    files::remove_all(reports);
    running_command watcher(line, within_two_minutes());
    // From half of that time to a little after it, in equal steps. This is no wait for a condition: the moment is what
    // the round tries.
    const auto moment = whole_time / 2 + whole_time * 7 * round / (10 * rounds);
    (void)::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(moment).count()));
    ::kill(watcher.pid(), SIGKILL);
    CHECK(watcher.wait().signal == SIGKILL);
    INFO(round);
    CHECK(half_reports(reports) == "");
    without += files::exists(reports + "/report.html") ? 0 : 1;
    for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  }
  // Some of the moments lie before the end of the writing.
  CHECK(without > 0);

  // The next command ignores what a killed one has left.
  files::create_directories(reports);
  std::ofstream(reports + "/report.html.0123456789abcdef.part") << "<!DOCTYPE html>";
  const auto run =
      run_command(faults_line({"--timeout", "1", "--report", reports, "--then", "kill"}, job), within_two_minutes());
  CHECK(run.exit_code == 124);
  CHECK(file_contents(reports + "/report.html").ends_with("</html>\n"));
}

TEST_CASE("watch faults: the job ends while its report is made, which then has what was read") {
  // This library takes seconds for each call, so that the ranks end while their queues are read.
  queue_job job(2, {"in:MPI_Recv", "library:" + queue_library("dawdles"), "@all"});
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  running_command watcher(faults_line({"--timeout", "0.5", "--report", reports}, job), within_two_minutes());
  const auto is_read = [&] {
    std::error_code gone;
    for (const auto& task : files::directory_iterator("/proc/" + std::to_string(watcher.pid()) + "/task", gone)) {
      std::istringstream list(file_contents(task.path() / "children"));
      for (pid_t child = 0; list >> child;) {
        if (file_contents("/proc/" + std::to_string(child) + "/comm") == "mqd-host\n") return true;
      }
    }
    return false;
  };
  REQUIRE(comes_true(is_read));
  for (const pid_t rank : job.ranks()) ::kill(rank, SIGKILL);
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(half_reports(reports) == "");
  const json report = json::parse(file_contents(reports + "/report.json"));
  CHECK(report.at("why") == "timeout");
  // The stacks were taken before.
  for (const json& rank : report.at("stacks").at("ranks")) CHECK(rank.at("outcome") == "taken");
  CHECK(report.at("queues").at("ranks").size() == 2);
}
