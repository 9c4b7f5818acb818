// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// `mpiacq check` as a person runs it: its report, its exit status, and a job that is none the worse for it.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "launched.hpp"
#include "live_process.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

struct checked {
  command_outcome command;
  json report;
  std::map<std::string, std::string> oracle;
};

checked check(std::vector<std::string> starter, std::vector<std::string> options = {"--json"}) {
  const scratch_folder folder;
  command_options how;
  how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
  how.environment["TMPDIR"] = folder.path("");
  std::vector<std::string> command = {MPIACQ_COMMAND, "check"};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  starter.front() = fixture(starter.front());
  command.insert(command.end(), starter.begin(), starter.end());
  checked result;
  result.command = run_command(command, how);
  // A line; what there is to complain of follows.
  const std::string& said = result.command.err;
  if (said.rfind('{', 0) == 0) result.report = json::parse(said.substr(0, said.find('\n')));
  result.oracle = read_oracle(folder.path("oracle"));
  return result;
}

std::size_t number_of_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("check: the document contains every clause, and the job's output is unchanged") {
  const checked run = check({"checked", "--exit", "7"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  CHECK(run.oracle.at("exit") == "7");
  CHECK(number_of_lines(run.command.out) == 4);
  CHECK_THAT(run.command.out, ContainsSubstring("rank 3 pid "));
  CHECK(run.report.at("schema") == "mpiacq.check/1");
  CHECK(run.report.at("starter").at("executable") == fixture("checked"));
  CHECK(run.report.at("starter").at("mode") == "launch");
  CHECK(run.report.at("starter").at("ended").at("exit_status") == 7);
  CHECK(std::to_string(run.report.at("starter").at("pid").get<long>()) == run.oracle.at("starter_pid"));
  std::set<std::string> ids;
  for (const json& clause : run.report.at("clauses")) {
    CHECK(ids.insert(clause.at("id").get<std::string>()).second);
    CHECK(std::set<std::string>{"pass", "fail", "not-applicable"}.contains(clause.at("verdict").get<std::string>()));
    for (const char* key : {"section", "title", "strength", "saw"})
      CHECK_FALSE(clause.at(key).get<std::string>().empty());
    if (clause.at("id") == "9.6b") CHECK(clause.at("verdict") == "pass");
  }
  CHECK(ids.contains("4.1c"));
}

TEST_CASE("check: a failed clause ends in 1, and the text has a line for each clause and the counts") {
  const checked run = check({"checked_breaks_9_6b", "--exit", "7"}, {});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 1);
  CHECK(run.oracle.at("exit") == "7");
  CHECK_THAT(run.command.err, ContainsSubstring("ended with exit status 7\n"));
  CHECK_THAT(run.command.err, ContainsSubstring("fail (should)"));
  CHECK_THAT(run.command.err, ContainsSubstring("it is 1 before the starter has run\n"));
  CHECK_THAT(run.command.err, ContainsSubstring(" 1 failed, "));
  CHECK(run.command.err.find('\x1b') == std::string::npos);  // colours are for terminals
  const std::size_t clauses = check({"checked"}).report.at("clauses").size();
  CHECK(number_of_lines(run.command.err) == clauses + 2);
}

TEST_CASE("check: -o takes the report to a file, and - to standard output") {
  const scratch_folder folder;
  const checked to_file = check({"checked"}, {"--json", "-o", folder.path("report")});
  CHECK(to_file.command.err.empty());
  CHECK(json::parse(file_contents(folder.path("report"))).at("schema") == "mpiacq.check/1");
  const checked to_output = check({"checked"}, {"-o", "-"});
  CHECK(to_output.command.err.empty());
  CHECK_THAT(to_output.command.out, ContainsSubstring("against MPIR 1.1, launched"));
}

TEST_CASE("check: failures of mpiacq end in 125, 126 and 127 as in the other commands") {
  CHECK(run_command({MPIACQ_COMMAND, "check"}).exit_code == 125);
  CHECK(run_command({MPIACQ_COMMAND, "check", "--", "/no/such/starter"}).exit_code == 127);
  CHECK(run_command({MPIACQ_COMMAND, "check", "--", "/etc/passwd"}).exit_code == 126);
  CHECK(run_command({MPIACQ_COMMAND, "check", "-o", "/no/such/folder/x", "--", "true"}).exit_code == 125);
  // A starter that fails before it has a job is neither good nor bad.
  const checked nothing = check({"starter_dies", "before", "--exit", "5"}, {});
  INFO(nothing.command.err);
  CHECK_THAT(nothing.command.err, ContainsSubstring("has not started a job that could be checked"));
  CHECK(nothing.command.exit_code == 125);
}

TEST_CASE("check: a starter that dies at any moment is judged by what was observed") {
  for (const char* when : {"in", "stopped", "after"}) {
    INFO(when);
    const checked run = check({"starter_dies", when, "9"});
    INFO(run.command.err);
    // A stop that ends by SIGKILL before anybody has waited for it is never told of: no job was seen then.
    const bool seen = run.command.err.find("has not started a job that could be checked") == std::string::npos;
    CHECK((seen || std::string_view(when) == "stopped"));
    // Its ranks are copies of it, and so are marked as starters.
    CHECK(run.command.exit_code == (seen ? 1 : 125));
    CHECK(run.report.at("starter").at("ended").at("signal") == 9);
  }
}

TEST_CASE("check: the job runs on without mpiacq after --timeout") {
  const scratch_folder folder;
  command_options how;
  how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
  // Its ranks wait for a gate that is opened only after two seconds.
  how.environment["TMPDIR"] = folder.path("");
  const auto run = run_command({MPIACQ_COMMAND, "check", "--json", "-o", folder.path("report"), "--timeout", "1", "--",
                                fixture("checked_gated"), "--rank", "checked_rank_gate"},
                               how);
  INFO(run.err);
  CHECK_THAT(run.err, ContainsSubstring("has not ended within 1 s; it runs on without mpiacq"));
  CHECK(run.exit_code == 0);
  CHECK(comes_true([&] { return read_oracle(folder.path("oracle")).contains("exit"); }));
  const auto oracle = read_oracle(folder.path("oracle"));
  CHECK(oracle.at("being_debugged_at_end") == "0");
  for (int rank = 0; rank < 4; ++rank) CHECK(oracle.at("rank." + std::to_string(rank) + ".wait_status") == "0x0");
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(report.at("starter").at("ended").is_null());
}

TEST_CASE("check PID: the report goes to standard output, and the job runs on undisturbed") {
  const scratch_folder folder;
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  ::setenv("TMPDIR", folder.path("").c_str(), 1);
  live_process starter({fixture("checked"), "--hold"});
  ::unsetenv("MPIACQ_ORACLE");
  ::unsetenv("TMPDIR");
  (void)starter.lines_until_ready();
  const std::string pid = std::to_string(starter.pid().value());
  const auto run = run_command({MPIACQ_COMMAND, "check", "--json", pid});
  INFO(run.err << run.out);
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  const json report = json::parse(run.out);
  CHECK(report.at("starter").at("mode") == "attach");
  CHECK(std::to_string(report.at("starter").at("pid").get<long>()) == pid);
  CHECK(process_state(starter.pid().value()) == 'S');
  CHECK(run_command({MPIACQ_COMMAND, "check", pid}).exit_code == 0);  // and again
  CHECK(starter.end() == 0);
  CHECK(read_oracle(folder.path("oracle")).at("being_debugged_at_end") == "0");
  const auto gone = run_command({MPIACQ_COMMAND, "check", pid});
  CHECK(gone.exit_code == 125);
  CHECK_THAT(gone.err, ContainsSubstring(pid));
}

TEST_CASE("check --daemon: the starter launches the daemon with its arguments") {
  const checked run = check({"checked"}, {"--json", "--daemon", "/bin/sleep", "--daemon-arg", "29", "--daemon-arg=0"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  CHECK(run.oracle.contains("daemon"));
  for (const json& clause : run.report.at("clauses")) {
    if (clause.at("id") == "7.1b") CHECK(clause.at("verdict") == "pass");
  }
}

TEST_CASE("check: a wrapper that execs its starter is followed") {
  const checked run = check({"wrapper", "exec", fixture("checked"), "--exit", "4"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  CHECK(run.report.at("starter").at("executable") == fixture("checked"));
  CHECK(run.oracle.at("exit") == "4");
}
