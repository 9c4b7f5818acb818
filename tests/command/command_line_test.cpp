// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Help, mistakes on the command line, and files that are not starters.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <sys/stat.h>

#include "another_user.hpp"
#include "catch.hpp"
#include "launched.hpp"
#include "lines_of.hpp"

using namespace mpiacq::test;

namespace {

command_outcome mpiacq_command(std::vector<std::string> arguments, const command_options& how = {}) {
  arguments.insert(arguments.begin(), MPIACQ_COMMAND);
  return run_command(arguments, how);
}

void check_sentence(const command_outcome& run, int status, const std::string& part) {
  INFO(run.err);
  CHECK(run.exit_code == status);
  CHECK(run.err.rfind("mpiacq: ", 0) == 0);
  CHECK_THAT(run.err, ContainsSubstring(part));
  CHECK(run.out.empty());
}

void write_file(const std::string& path, const std::string& bytes, mode_t mode = 0755) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), mode);
}

}  // namespace

namespace {

/// The names in the first column of a help text, in the section with this heading.
std::vector<std::string> commands_in_help() {
  std::vector<std::string> names;
  bool is_inside = false;
  for (const std::string& line : lines_of(mpiacq_command({"--help"}).out)) {
    if (line == "Commands:") {
      is_inside = true;
    } else if (line.empty()) {
      is_inside = false;
    } else if (is_inside && line.size() > 2 && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

/// The long options that begin a line of the help of a command.
std::set<std::string> options_in_help(const std::string& name) {
  static const std::regex option("^  (?:-\\w,)?(--[a-z-]+)");
  std::set<std::string> found;
  for (const std::string& line : lines_of(mpiacq_command({name, "--help"}).out)) {
    std::smatch match;
    if (std::regex_search(line, match, option)) found.insert(match[1]);
  }
  return found;
}

/// The options of each command, as the headings of the manual page list them: "--ranks RANKS (stacks, queues)".
std::map<std::string, std::set<std::string>> options_in_manual() {
  static const std::regex option("--[a-z-]+"), list("\\(([a-z, ]+)\\)\"$"), name("[a-z]+");
  std::map<std::string, std::set<std::string>> found;
  bool is_heading = false;
  for (const std::string& raw : lines_of(file_contents(MPIACQ_MANUAL))) {
    const std::string line = std::regex_replace(raw, std::regex("\\\\-"), "-");
    std::smatch commands;
    if (is_heading && std::regex_search(line, commands, list)) {
      const std::string text = commands[1];
      for (std::sregex_iterator one(text.begin(), text.end(), name), end; one != end; ++one) {
        const std::string before = commands.prefix();
        std::smatch match;
        if (std::regex_search(before, match, option)) found[one->str()].insert(match[0]);
      }
    }
    is_heading = line == ".TP";
  }
  return found;
}

}  // namespace

TEST_CASE("mpiacq --help lists the commands and --version prints the version") {
  const auto help = mpiacq_command({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, ContainsSubstring("mpiacq shows what the processes of an MPI job are doing"));
  const std::vector<std::string> expected = {"jobs",   "report", "watch", "stacks",  "queues", "attach",
                                             "launch", "graph",  "check", "inspect", "types"};
  CHECK(commands_in_help() == expected);
  const auto version = mpiacq_command({"--version"});
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.out, ContainsSubstring("mpiacq 0"));
}

TEST_CASE("the help of each command begins with a sentence and an example") {
  for (const std::string& name : commands_in_help()) {
    INFO(name);
    const auto run = mpiacq_command({name, "--help"});
    CHECK(run.exit_code == 0);
    const auto lines = lines_of(run.out);
    REQUIRE(lines.size() > 4);
    CHECK(lines[0].size() <= 90);
    const auto example =
        std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with(' '); });
    CHECK(std::prev(example)->empty());
    CHECK(std::prev(example, 2)->ends_with('.'));
    CHECK_THAT(*example, ContainsSubstring("  mpiacq " + name));
    CHECK_THAT(run.out, ContainsSubstring("Usage: mpiacq " + name + " [OPTIONS] "));
    CHECK_THAT(run.out, ContainsSubstring("Exit status: "));
  }
}

TEST_CASE("the manual page lists every option of every command and no other") {
  const auto manual = options_in_manual();
  std::size_t count = 0;
  for (const std::string& name : commands_in_help()) {
    INFO(name);
    const auto options = options_in_help(name);
    REQUIRE(manual.contains(name));
    CHECK(manual.at(name) == options);
    count += options.size();
    CHECK_THAT(file_contents(MPIACQ_MANUAL), ContainsSubstring("\n.SS " + name + "\n"));
  }
  CHECK(manual.size() == commands_in_help().size());
  CHECK(count > 60);
}

TEST_CASE("a wrong command line ends in 125 with a sentence that helps") {
  CHECK(mpiacq_command({}).exit_code == 125);
  CHECK_THAT(mpiacq_command({}).err, ContainsSubstring("Usage"));
  check_sentence(mpiacq_command({"fly"}), 125, "\"fly\" is not a command of mpiacq\nSee 'mpiacq --help'.");
  check_sentence(mpiacq_command({"launch"}), 125, "launch: no starter was given. Example: mpiacq launch -- mpirun");
  check_sentence(mpiacq_command({"launch", "--"}), 125, "no starter was given");
  check_sentence(mpiacq_command({"inspect"}), 125, "inspect: no FILE|PID was given. Example: mpiacq inspect /usr/bin");
  check_sentence(mpiacq_command({"stacks", "x"}), 125, "\"x\" is not the id of a process");
  check_sentence(mpiacq_command({"jobs", "1"}), 125, "jobs: \"1\" is one word too many");
  check_sentence(mpiacq_command({"attach", "--core", "core", "1"}), 125, "JOB and --core exclude each other");
  check_sentence(mpiacq_command({"attach", "--sysroot", "/", "1"}), 125, "--executable and --sysroot need --core");
  check_sentence(mpiacq_command({"stacks", "1", "2"}), 125, "\"2\" is one word too many");
  check_sentence(mpiacq_command({"launch", "--then", "fly", "--", "true"}), 125,
                 "--then: \"fly\" is not one of continue, detach, stop, kill");
  check_sentence(mpiacq_command({"launch", "--timeout", "-3", "--", "true"}), 125, "--timeout");
  check_sentence(mpiacq_command({"attach", "--daemon-arg", "x", "1"}), 125, "--daemon-arg requires --daemon");
  check_sentence(mpiacq_command({"attach", "--daemon-output", "1"}), 125, "--daemon-output requires --daemon");
  check_sentence(mpiacq_command({"launch", "-o", "/no/such/folder/x", "--", "true"}), 125, "/no/such/folder/x");
}

TEST_CASE("an unknown option is refused, and the sentence names a similar option or the commands that have it") {
  check_sentence(mpiacq_command({"stacks", "--rank", "3", "1"}), 125,
                 "stacks: --rank is not an option of this command; --ranks is\nSee 'mpiacq stacks --help'.");
  check_sentence(mpiacq_command({"queues", "--samples=3", "1"}), 125,
                 "queues: --samples is not an option of this command, but of: stacks");
  check_sentence(mpiacq_command({"check", "--each", "true", "--", "true"}), 125, "but of: attach, launch");
  check_sentence(mpiacq_command({"launch", "--frobnicate", "--", "true"}), 125,
                 "launch: --frobnicate is not an option of this command");
}

TEST_CASE("options behind the name of the starter belong to the starter") {
  const auto run = mpiacq_command({"launch", fixture("starter_pie"), "--exit", "12", "--json"});
  CHECK(run.exit_code == 12);
  CHECK(run.err.find('{') == std::string::npos);
}

TEST_CASE("a starter that cannot be run ends mpiacq in 126 or 127 with a sentence") {
  const scratch_folder folder;
  write_file(folder.path("empty"), "");
  write_file(folder.path("not-executable"), "#!/bin/sh\n", 0644);
  write_file(folder.path("no-interpreter"), "#!/no/such/interpreter\n");
  // The ELF header of a machine that this one is not (EM_VAX), and one that breaks off.
  std::string foreign(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  foreign.resize(64, '\0');
  foreign[16] = 2;
  foreign[18] = 75;
  foreign[20] = 1;
  write_file(folder.path("foreign"), foreign);
  write_file(folder.path("truncated"), file_contents(fixture("starter_pie")).substr(0, 100));

  check_sentence(mpiacq_command({"launch", "--", folder.path("missing")}), 127, "missing");
  check_sentence(mpiacq_command({"launch", "--", "no-such-program-anywhere"}), 127, "PATH");
  check_sentence(mpiacq_command({"launch", "--", folder.path("")}), 126, "directory");
  check_sentence(mpiacq_command({"launch", "--", folder.path("not-executable")}), 126, "not-executable");
  check_sentence(mpiacq_command({"launch", "--", folder.path("no-interpreter")}), 126, "/no/such/interpreter");
  check_sentence(mpiacq_command({"launch", "--", folder.path("empty")}), 126, "empty");
  check_sentence(mpiacq_command({"launch", "--", folder.path("foreign")}), 126, "foreign");
  check_sentence(mpiacq_command({"launch", "--", folder.path("truncated")}), 126, "truncated");
}

TEST_CASE("a user without the right to read a starter can launch it, and is told what is missing") {
  if (::geteuid() == 0) {
    MPIACQ_NEEDS_ANOTHER_USER();
  }
  const scratch_folder folder;
  ::chmod(folder.path("").c_str(), 0755);
  write_file(folder.path("forbidden"), file_contents(fixture("starter_pie")), 0);
  write_file(folder.path("unreadable"), file_contents(fixture("starter_pie")), 0111);
  command_options how;
  how.as_nobody = true;
  check_sentence(mpiacq_command({"launch", "--", folder.path("forbidden")}, how), 126, "Permission denied");
  check_sentence(mpiacq_command({"inspect", folder.path("unreadable")}, how), 125, "Permission denied");

  const auto run = mpiacq_command({"launch", "--", folder.path("unreadable"), "--exit", "4"}, how);
  INFO(run.err);
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.out, ContainsSubstring("rank 3 pid"));
  CHECK_THAT(run.err, ContainsSubstring("may be run but not read"));
  CHECK_THAT(run.err, ContainsSubstring(folder.path("unreadable") + " ended (exit status 4)"));

  const auto ordinary = mpiacq_command({"launch", "--", fixture("starter_pie"), "--exit", "3"}, how);
  CHECK(ordinary.exit_code == 3);
  CHECK_THAT(ordinary.err, ContainsSubstring("has spawned 4 processes"));
}

TEST_CASE("inspect names the kind of a file that is not a program") {
  const scratch_folder folder;
  write_file(folder.path("empty"), "");
  write_file(folder.path("script"), "#!/bin/sh\nexec mpirun \"$@\"\n");
  write_file(folder.path("text"), "no program\n");
  write_file(folder.path("truncated"), file_contents(fixture("starter_pie")).substr(0, 100));
  check_sentence(mpiacq_command({"inspect", folder.path("missing")}), 125, "missing");
  check_sentence(mpiacq_command({"inspect", folder.path("")}), 125, "directory");
  check_sentence(mpiacq_command({"inspect", folder.path("empty")}), 125, "empty");
  check_sentence(mpiacq_command({"inspect", folder.path("script")}), 125, "/bin/sh");
  check_sentence(mpiacq_command({"inspect", folder.path("text")}), 125, "ELF");
  check_sentence(mpiacq_command({"inspect", folder.path("truncated")}), 125, "truncated");
  check_sentence(mpiacq_command({"inspect", "999999999"}), 125, "999999999");
}
