// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// --then stop prints a line for gdb and one for lldb that take all ranks: the debuggers themselves say whether they do.
#include <csignal>
#include <regex>
#include <set>

#include "attached.hpp"
#include "catch.hpp"
#include "gdb.hpp"

using namespace mpiacq::test;

namespace {

/// What stands behind "all ranks in one gdb:" on standard error.
std::string line_for(const std::string& debugger, const std::string& said) {
  const std::string mark = "all ranks in one " + debugger + ":";
  const std::size_t at = said.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = said.find_first_not_of(' ', at + mark.size());
  return said.substr(begin, said.find('\n', begin) - begin);
}

/// The numbers that a pattern with one group finds.
std::set<pid_t> pids_in(const std::string& text, const char* pattern) {
  std::set<pid_t> pids;
  const std::regex found(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), found), end; match != end; ++match) {
    pids.insert(std::atoi((*match)[1].str().c_str()));
  }
  return pids;
}

/// Runs `debugger`'s line on a job of four that was left stopped, with `more` behind it.
void check_takes_all(const std::string& debugger, const std::string& more, const char* pattern) {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  const attached left = attach(starter.pid(), {"--then", "stop"});
  REQUIRE(left.command.exit_code == 0);
  const std::string line = line_for(debugger, left.command.err);
  INFO(line);
  REQUIRE(!line.empty());
  command_options how;
  how.limit = std::chrono::seconds(120);
  how.environment = {{"DEBUGINFOD_URLS", ""}, {"HOME", starter.folder().path("")}};
  const auto taken = run_command({"sh", "-c", line + more}, how);
  INFO(taken.out << taken.err);
  const auto ranks = starter.ranks();
  CHECK(pids_in(taken.out, pattern) == std::set<pid_t>(ranks.begin(), ranks.end()));
  // They are as the debugger has left them; either way the job goes on.
  for (const pid_t rank : ranks) ::kill(rank, SIGCONT);
  ::kill(starter.pid(), SIGCONT);
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

}  // namespace

TEST_CASE("then stop: the gdb line has every rank as an inferior") {
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  check_takes_all("gdb", " -batch -ex 'info inferiors' </dev/null", "process ([0-9]+) +1 \\(native\\)");
}

TEST_CASE("then stop: the lldb line has every rank as a target") {
  if (!is_installed("lldb")) MPIACQ_SKIP("lldb is not installed");
  check_takes_all("lldb", " --batch -o 'target list' </dev/null", "target #[0-9]+: .*pid=([0-9]+), state=stopped");
}
