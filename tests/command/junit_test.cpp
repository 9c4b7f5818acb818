// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch --junit, as Python's XML parser reads the file.
#include <csignal>
#include <filesystem>

#include "catch.hpp"
#include "hostile_text.hpp"
#include "launched.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// The file by an independent parser: the counts of the suite, and the only case with its only child.
json parsed(const std::string& file) {
  const auto run = run_command(
      {"python3", "-c",
       "import json, sys, xml.etree.ElementTree as xml\n"
       "root = xml.parse(sys.argv[1]).getroot()\n"
       "suite, = root\n"
       "case, = suite\n"
       "child = [{'tag': c.tag, 'text': c.text, **c.attrib} for c in case]\n"
       "assert root.tag == 'testsuites' and suite.tag == 'testsuite' and case.tag == 'testcase' and len(child) < 2\n"
       "assert root.attrib.items() <= suite.attrib.items()\n"
       "print(json.dumps({'suite': suite.attrib, 'case': case.attrib, 'child': child[0] if child else None}))\n",
       file});
  INFO(run.err << file_contents(file));
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

struct junit_run {
  command_outcome command;
  json file;
};

junit_run with_junit(std::vector<std::string> options, const std::vector<std::string>& subject) {
  const scratch_folder folder;
  const std::string file = folder.path("junit.xml");
  options.insert(options.begin(), {MPIACQ_COMMAND, "watch", "--trust-library", "--junit", file});
  options.insert(options.end(), subject.begin(), subject.end());
  command_options how;
  how.limit = std::chrono::seconds(120);
  auto run = run_command(options, how);
  INFO(run.err);
  // Nothing that was written aside is left.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path("")), {}) == 1);
  return {std::move(run), parsed(file)};
}

void check_counts(const json& file, const char* failures, const char* errors) {
  INFO(file.dump(1));
  CHECK(file.at("suite").at("tests") == "1");
  CHECK(file.at("suite").at("failures") == failures);
  CHECK(file.at("suite").at("errors") == errors);
  CHECK(file.at("case").at("classname") == "mpiacq.watch");
}

}  // namespace

TEST_CASE("junit: a job that hangs is a failure with the verdict, and the report is its text") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  queue_job job(2, words_of_a_deadlock());
  const auto run = with_junit({"--hang", "1", "--then", "kill"}, {std::to_string(job.pid())});
  CHECK(run.command.exit_code == 124);
  check_counts(run.file, "1", "0");
  CHECK(run.file.at("case").at("name") == "job " + std::to_string(job.pid()));
  CHECK(std::stod(run.file.at("case").at("time").get<std::string>()) >= 1);
  const json& failure = run.file.at("child");
  CHECK(failure.at("tag") == "failure");
  CHECK(failure.at("type") == "hang");
  CHECK_THAT(failure.at("message").get<std::string>(),
             ContainsSubstring("no rank has moved for ") &&
                 ContainsSubstring("deadlock: 0 -> 1 -> 0 wait for each other; rank 0 waits for rank 1"));
  CHECK(failure.at("text").get<std::string>().starts_with("mpiacq: deadlock: 0 -> 1 -> 0 wait for each other"));
  CHECK_THAT(failure.at("text").get<std::string>(), ContainsSubstring("\nwho waits for whom\n"));
}

TEST_CASE("junit: a job that runs for too long is a failure if it is ended, and passes with its report if not") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  queue_job job(2, words_of_a_deadlock());
  const bool ends = GENERATE(true, false);
  const auto run = with_junit({"--timeout", "1", "--then", ends ? "kill" : "stop"}, {std::to_string(job.pid())});
  CHECK(run.command.exit_code == (ends ? 124 : 0));
  check_counts(run.file, ends ? "1" : "0", "0");
  CHECK(run.file.at("child").at("tag") == (ends ? "failure" : "system-out"));
  if (ends) CHECK(run.file.at("child").at("type") == "timeout");
  CHECK_THAT(run.file.at("child").at("text").get<std::string>(), ContainsSubstring("mpiacq: deadlock: "));
}

TEST_CASE("junit: a rank that fails is a failure, also if mpiacq ends with status 0") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  queue_job job(2, words_of_a_deadlock());
  const scratch_folder folder;
  const std::string file = folder.path("junit.xml");
  command_options how;
  how.limit = std::chrono::seconds(120);
  running_command watcher(
      {MPIACQ_COMMAND, "watch", "--trust-library", "--crash", "--junit", file, std::to_string(job.pid())}, how);
  const pid_t rank = job.ranks().at(1);
  REQUIRE(comes_true([rank] {
    return file_contents("/proc/" + std::to_string(rank) + "/status").find("TracerPid:\t0\n") == std::string::npos;
  }));
  ::kill(rank, SIGSEGV);
  REQUIRE(watcher.complains("a rank has failed"));
  job.end();
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const json seen = parsed(file);
  check_counts(seen, "1", "0");
  CHECK(seen.at("child").at("type") == "crash");
  CHECK_THAT(seen.at("child").at("message").get<std::string>(), ContainsSubstring("a rank has failed"));
}

TEST_CASE("junit: the end of the starter decides if there is no report") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  SECTION("exit status 0 passes") {
    const auto run = with_junit({"--hang", "600"}, {"--", fixture("starter_pie"), "--exit", "0"});
    CHECK(run.command.exit_code == 0);
    check_counts(run.file, "0", "0");
    CHECK(run.file.at("child").is_null());
    CHECK(run.file.at("case").at("name") == fixture("starter_pie") + " --exit 0");
  }
  SECTION("another exit status is a failure") {
    const auto run = with_junit({"--hang", "600"}, {"--", fixture("starter_pie"), "--exit", "3"});
    CHECK(run.command.exit_code == 3);
    check_counts(run.file, "1", "0");
    CHECK(run.file.at("child").at("type") == "exit-status");
    CHECK(run.file.at("child").at("message") == "the starter ended with exit status 3");
  }
  SECTION("so is a signal") {
    const auto run = with_junit({"--hang", "600"}, {"--", "sh", "-c", "kill -KILL $$"});
    CHECK(run.command.exit_code == 128 + 9);
    check_counts(run.file, "1", "0");
    CHECK(run.file.at("child").at("type") == "signal");
    CHECK(run.file.at("child").at("message") == "signal 9 ended the starter");
  }
  SECTION("a failure of mpiacq is an error") {
    const auto run = with_junit({"--hang", "600"}, {"--", "/nowhere/starter"});
    CHECK(run.command.exit_code == 127);
    check_counts(run.file, "0", "1");
    CHECK(run.file.at("child").at("tag") == "error");
  }
}

TEST_CASE("junit: the file is XML whatever bytes the names contain") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  // What XML 1.0 forbids, what ends an element, an attribute or a CDATA section, and what is no UTF-8.
  std::string name = hostile + "<&>\"']]>&#0;--> \xef\xbf\xbe\xef\xbf\xbf \xed\xa0\x80 \x01";
  SECTION("in the command") {
    const auto run = with_junit({"--hang", "600"}, {"--", "sh", "-c", "exit 3", name});
    check_counts(run.file, "1", "0");
    const auto words = run.file.at("case").at("name").get<std::string>();
    CHECK_THAT(words, ContainsSubstring("<&>\"']]>&#0;--> ") && ContainsSubstring("\\x1b]0;title\\x07"));
    CHECK(unsafe_parts(words) == "");
  }
  SECTION("in the report") {
    std::replace(name.begin(), name.end(), ':', ';');
    auto words = words_of_a_deadlock();
    words.insert(words.begin(), "comm:" + name + ":0,1");
    queue_job job(2, words);
    const auto run = with_junit({"--hang", "1", "--then", "kill"}, {std::to_string(job.pid())});
    check_counts(run.file, "1", "0");
    const auto text = run.file.at("child").at("text").get<std::string>();
    CHECK_THAT(text, ContainsSubstring("<&>\"']]>&#0;--> \\u{fffe}\\u{ffff}"));
    CHECK(unsafe_parts(text) == "");
  }
}

TEST_CASE("junit: a file that cannot be written is reported before the starter runs") {
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  const auto run = run_command(
      {MPIACQ_COMMAND, "watch", "--hang", "1", "--junit", folder.path("none") + "/x.xml", "--", "touch", mark});
  INFO(run.err);
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("No such file or directory"));
  CHECK_FALSE(std::filesystem::exists(mark));
}
