// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq report on fixture jobs: the sentence, the three forms, and the file.
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "attached.hpp"
#include "catch.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

command_outcome report(const queue_job& job, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "report", "--trust-library"});
  options.push_back(std::to_string(job.pid()));
  command_options how;
  how.limit = std::chrono::seconds(60);
  return run_command(options, how);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::size_t files_in(const scratch_folder& folder) {
  const std::filesystem::directory_iterator all(folder.path(""));
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("report: the first line says which ranks are in a deadlock, and where") {
  queue_job job(2, words_of_a_deadlock());
  const auto run = report(job);
  INFO(run.err << run.out);
  CHECK(run.exit_code == 0);
  CHECK(first_line(run.out).starts_with(
      "mpiacq: deadlock: 0 -> 1 -> 0 wait for each other; rank 0 waits for rank 1: in MPI_Recv"));
  for (const char* part : {"look first at\n  ranks 0-1: in MPI_Recv at mpi_calls.c:", "who waits for whom\n",
                           "where the ranks are\n", "this report\n", "  command: "}) {
    CHECK_THAT(run.out, ContainsSubstring(part));
  }
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
}

TEST_CASE("report: the name of the file decides about the form") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  SECTION("a page") {
    const std::string file = folder.path("report.html");
    const auto run = report(job, {"-o", file});
    CHECK(run.exit_code == 0);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring("deadlock: 0 -> 1 -> 0 wait for each other"));
    const std::string page = file_contents(file);
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK_THAT(page, ContainsSubstring("<h1>deadlock: 0 -&gt; 1 -&gt; 0 wait for each other"));
    CHECK(page.ends_with("</html>\n"));
    // Nothing in it refers to another file or host.
    for (const char* word : {"http://", "https://", " src=", " href="}) {
      INFO(word);
      const std::size_t at = page.find(word);
      CHECK((at == std::string::npos || page.compare(at, 26, "http://www.w3.org/2000/svg") == 0));
    }
  }
  SECTION("JSON") {
    const std::string file = folder.path("report.json");
    CHECK(report(job, {"-o", file}).exit_code == 0);
    const json document = json::parse(file_contents(file));
    CHECK(document.at("schema") == "mpiacq.report/1");
    CHECK(document.at("why") == "asked");
    CHECK(document.at("verdict").at("basis") == "deadlock");
    CHECK(document.at("verdict").at("ranks") == "0-1");
    CHECK(document.at("deadlocks").size() == 1);
    CHECK(document.at("waits").size() == 2);
    CHECK(document.at("job").at("event") == "observed");
    CHECK(document.at("job").at("processes").at(0).at("state") == "running");
    CHECK(document.at("command").at(0).get<std::string>().ends_with("queue_job"));
    CHECK(report(job, {"--json", "-o", folder.path("other")}).exit_code == 0);
    CHECK(json::parse(file_contents(folder.path("other"))).at("schema") == "mpiacq.report/1");
  }
  SECTION("text") {
    CHECK(report(job, {"-o", folder.path("report.txt")}).exit_code == 0);
    CHECK(file_contents(folder.path("report.txt")).starts_with("mpiacq: deadlock: "));
  }
  // Only the report is there: nothing that was written aside.
  for (const auto& file : std::filesystem::directory_iterator(folder.path(""))) {
    CHECK(file.path().extension() != ".part");
  }
}

TEST_CASE("report: a job in which nobody waits has a verdict that says so") {
  queue_job job(2, {});
  const auto run = report(job);
  CHECK(run.exit_code == 0);
  INFO(run.out);
  CHECK(run.out.starts_with("mpiacq: no rank is known to wait for another; ranks 0-1 are in no MPI call"));
  CHECK_THAT(run.out, ContainsSubstring("  the calls of the ranks:\n    ranks 0-1: in no MPI call"));
}

TEST_CASE("report: an old report stays whole until the new one is whole") {
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string file = folder.path("report.txt");
  REQUIRE(report(job, {"-o", file}).exit_code == 0);
  const std::string before = file_contents(file);

  SECTION("a look that fails leaves the old file, and nothing beside it") {
    const auto run =
        run_command({MPIACQ_COMMAND, "report", "-o", file, "4194305"});  // above the largest number of a process
    CHECK(run.exit_code == 125);
    CHECK(file_contents(file) == before);
  }
  SECTION("a file that another report replaces is another file") {
    struct stat old {
    }, now{};
    REQUIRE(::stat(file.c_str(), &old) == 0);
    REQUIRE(report(job, {"-o", file}).exit_code == 0);
    REQUIRE(::stat(file.c_str(), &now) == 0);
    CHECK(old.st_ino != now.st_ino);
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("report: a folder that does not exist is named before the job is looked at") {
  queue_job job(2, {});
  const auto run = report(job, {"-o", "/nowhere/report.html"});
  CHECK(run.exit_code == 125);
  for (const char* part : {"creating the report file", "/nowhere/report.html", "No such file or directory"}) {
    CHECK_THAT(run.err, ContainsSubstring(part));
  }
  CHECK(report(job, {"-o", "/dev/full"}).exit_code == 125);
}
