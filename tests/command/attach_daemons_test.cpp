// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool daemon launch extension in attach mode (MPIR 1.1, 7.1, 7.2, 9.15 to 9.17). The starter says what it was
// asked for, and the daemon what it was given.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "attached.hpp"
#include "catch.hpp"
#include "write_watch.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// A daemon that writes its arguments down, a line each, and lives for long enough to be seen.
class daemon_program {
 public:
  daemon_program() {
    std::ofstream(path()) << "#!/bin/sh\nprintf '%s\\n' \"$@\" >" << folder_.path("arguments") << "\nsleep 0.4\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return folder_.path("daemon"); }
  [[nodiscard]] std::string arguments() const { return file_contents(folder_.path("arguments")); }

 private:
  scratch_folder folder_;
};

std::uint64_t address_in(const running_starter& starter, const std::string& symbol) {
  return std::strtoull(starter.said("symbol." + symbol).c_str(), nullptr, 16);
}

void check_untouched_end(running_starter& starter, const std::string& daemons) {
  CHECK(runs_freely(starter.pid()));
  CHECK(starter.value_of("MPIR_being_debugged") == 0);
  CHECK(WEXITSTATUS(starter.end()) == 3);
  CHECK(starter.said("daemons") == daemons);
  CHECK(starter.said("path_at_end").empty());
  CHECK(starter.said("arguments_at_end").empty());
}

/// Where the breakpoint registers of a machine have no effect, traps are written into code.
std::vector<std::uint64_t> written_outside_code(write_watch& watch, pid_t process) {
  auto addresses = watch.addresses();
  std::istringstream maps(file_contents("/proc/" + std::to_string(process) + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char execute = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx %*c%*c%c", &begin, &end, &execute) != 3 || execute != 'x') continue;
    std::erase_if(addresses, [=](std::uint64_t one) { return one >= begin && one < end; });
  }
  return addresses;
}

}  // namespace

TEST_CASE("daemons: the starter is woken by its FIFO, or polls, and launches with just these arguments") {
  const std::string way = GENERATE("by-fifo", "by-polling");
  INFO(way);
  const daemon_program daemon;
  const scratch_folder folder;
  const std::string fifo = way == "by-fifo" ? folder.path("fifo") : "-";
  if (way == "by-fifo") REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  running_starter starter({"starter_launches_daemons", fifo, "--exit", "3"});
  starter.ready();
  const attached seen = attach(starter.pid(), {"--daemon", daemon.path(), "--daemon-arg", "--port=5000", "--daemon-arg",
                                               "two words", "--daemon-arg", "*", "--daemon-arg", "-"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  REQUIRE(seen.report.is_object());
  CHECK(seen.report.at("facts").at("daemons") == way);
  CHECK(seen.report.at("processes").size() == 4);
  CHECK_THAT(seen.command.err, ContainsSubstring("has launched the daemons"));
  REQUIRE(comes_true([&] { return starter.said("daemon.1.wait_status") == "0x0"; }));
  CHECK(daemon.arguments() == "--port=5000\ntwo words\n*\n-\n");
  CHECK(starter.said("daemon.1.path") == daemon.path());
  CHECK(starter.said("daemon.1.arguments") == "4");
  CHECK(starter.said("fifo_byte") == (way == "by-fifo" ? "1" : "(nothing)"));
  check_untouched_end(starter, "1");
}

TEST_CASE("daemons: path and arguments are written before being_debugged is 1, and removed after it is 0") {
  const daemon_program daemon;
  running_starter starter({"starter_launches_daemons", "-", "--exit", "3"});
  starter.ready();
  command_options how;
  how.in_child = write_watch::begin;
  running_command tool(attach_command(starter.pid(), {"--daemon", daemon.path(), "--daemon-arg", "one"}), how);
  write_watch watch(tool.pid());
  REQUIRE(watch.is_there());
  const auto run = tool.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::uint64_t path = address_in(starter, "MPIR_executable_path");
  const std::uint64_t arguments = address_in(starter, "MPIR_server_arguments");
  const std::uint64_t debugged = address_in(starter, "MPIR_being_debugged");
  CHECK(written_outside_code(watch, starter.pid()) ==
        std::vector<std::uint64_t>{path, arguments, debugged, debugged, arguments, path});
  check_untouched_end(starter, "1");
}

TEST_CASE("daemons: a request that does not fit is refused with its limit and not written, and the job is reported") {
  const auto [words, says] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--daemon", "/d", "--daemon-arg", "one", "--daemon-arg", ""}, "argument 2 is empty"},
      {{"--daemon", "/" + std::string(255, 'd')}, "takes 257 bytes with its null"},
      {{"--daemon", "/d", "--daemon-arg", std::string(1023, 'a')}, "MPIR_server_arguments has 1024"},
  }));
  INFO(says);
  running_starter starter({"starter_launches_daemons", "-", "--exit", "3"});
  starter.ready();
  command_options how;
  how.in_child = write_watch::begin;
  running_command tool(attach_command(starter.pid(), words), how);
  write_watch watch(tool.pid());
  REQUIRE(watch.is_there());
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK_THAT(seen.command.err, ContainsSubstring(says));
  REQUIRE(seen.report.is_object());
  CHECK_THAT(seen.report.at("problems").dump(), ContainsSubstring(says));
  CHECK(seen.report.at("facts").at("daemons") == "refused");
  CHECK(seen.report.at("processes").size() == 4);
  const std::uint64_t debugged = address_in(starter, "MPIR_being_debugged");
  CHECK(written_outside_code(watch, starter.pid()) == std::vector<std::uint64_t>{debugged, debugged});
  check_untouched_end(starter, "0");
}

TEST_CASE("daemons: the longest path and arguments that fit arrive complete") {
  const daemon_program daemon;
  running_starter starter({"starter_launches_daemons", "-", "--exit", "3"});
  starter.ready();
  const std::string longest(1022, 'a');
  const attached seen = attach(starter.pid(), {"--daemon", daemon.path(), "--daemon-arg", longest});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  REQUIRE(comes_true([&] { return starter.said("daemon.1.wait_status") == "0x0"; }));
  CHECK(daemon.arguments() == longest + "\n");
  check_untouched_end(starter, "1");
}

TEST_CASE("daemons: the sentence about a starter that cannot launch any names what it lacks, and the job is reported") {
  running_starter starter({"starter_pie", "--hold", "--exit", "3"});
  starter.ready();
  const attached seen = attach(starter.pid(), {"--daemon", "/bin/true"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 125);
  CHECK_THAT(seen.command.err, ContainsSubstring("it has no MPIR_executable_path and MPIR_server_arguments"));
  CHECK(seen.report.at("processes").size() == 4);
  CHECK(seen.report.at("facts").at("daemons") == "refused");
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("daemons: mpiacq writes only to a FIFO of the starter's owner") {
  const std::string kind = GENERATE("link", "file", "missing", "nobody's");
  const scratch_folder folder;
  const std::string named = folder.path("named");
  const std::string real = folder.path("real");
  std::string says;
  if (kind == "link") {
    REQUIRE(::mkfifo(real.c_str(), 0600) == 0);
    REQUIRE(::symlink(real.c_str(), named.c_str()) == 0);
    says = "is a symbolic link";
  } else if (kind == "file") {
    std::ofstream(named) << "precious";
    says = "is no FIFO";
  } else if (kind == "missing") {
    says = "cannot be found";
  } else {
    if (::geteuid() != 0) MPIACQ_SKIP("only root can give a FIFO away");
    REQUIRE(::mkfifo(named.c_str(), 0666) == 0);
    REQUIRE(::chown(named.c_str(), 65534, 65534) == 0);
    says = "belongs to user 65534";
  }
  INFO(kind);
  running_starter starter({"starter_launches_daemons", named, "--exit", "3"});
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--daemon", "/bin/true", "--then", "continue"}));
  REQUIRE(tool.complains(says));
  ::kill(tool.pid(), SIGINT);
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 128 + SIGINT);
  CHECK_THAT(seen.command.err, ContainsSubstring(named));
  CHECK_THAT(seen.command.err, ContainsSubstring(says));
  CHECK_THAT(seen.report.at("problems").dump(), ContainsSubstring(says));
  CHECK(seen.report.at("processes").size() == 4);
  if (kind == "file") CHECK(file_contents(named) == "precious");
  if (kind == "missing") CHECK_FALSE(std::filesystem::exists(named));
  check_untouched_end(starter, "0");
  // A file can be read: what the starter reads there is what stood there.
  CHECK(starter.said("fifo_byte") == (kind == "file" ? std::to_string('s') : "(nothing)"));
}

TEST_CASE("daemons: an attach does not launch a path that another tool has left, and restores it") {
  running_starter starter({"starter_launches_daemons", "-", "/left/by/another", "--exit", "3"});
  starter.ready();
  running_command tool(attach_command(starter.pid(), {"--then", "continue"}));
  REQUIRE(comes_true([&] { return starter.value_of("MPIR_being_debugged") == 1; }));
  const int looks = starter.value_of("looks");
  REQUIRE(comes_true([&] { return starter.value_of("looks") > looks + 1; }));
  ::kill(tool.pid(), SIGINT);
  const attached seen = outcome_of(tool.wait());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 128 + SIGINT);
  CHECK_THAT(seen.command.err, ContainsSubstring("/left/by/another"));
  CHECK(WEXITSTATUS(starter.end()) == 3);
  CHECK(starter.said("daemons") == "0");
  CHECK(starter.said("path_at_end") == "/left/by/another");
}

TEST_CASE("daemons: the starter launches a second request") {
  const daemon_program daemon;
  running_starter starter({"starter_launches_daemons", "-", "--exit", "3"});
  starter.ready();
  for (const std::string round : {"first", "second"}) {
    const attached seen = attach(starter.pid(), {"--daemon", daemon.path(), "--daemon-arg", round});
    INFO(seen.command.err);
    CHECK(seen.command.exit_code == 0);
    CHECK_THAT(seen.command.err, ContainsSubstring("has launched the daemons"));
    REQUIRE(comes_true([&] { return daemon.arguments() == round + "\n"; }));
    const std::string key = round == "first" ? "daemon.1.wait_status" : "daemon.2.wait_status";
    REQUIRE(comes_true([&] { return starter.said(key) == "0x0"; }));
  }
  check_untouched_end(starter, "2");
}
